; id: python.process
; severity: warning
; message: starts a process
; sandbox: Processes count against --pids, and whatever the image has can be run.
((call function: (_) @name) @found
 (#resolves? @name "os.system" "os.popen" "os.execl*" "os.execv*" "os.spawn*" "os.posix_spawn*" "os.fork" "os.forkpty" "os.startfile" "posix.system" "posix.fork" "nt.system" "subprocess.run" "subprocess.call" "subprocess.check_call" "subprocess.check_output" "subprocess.Popen" "subprocess.getoutput" "subprocess.getstatusoutput" "commands.getoutput" "commands.getstatusoutput" "pty.spawn" "pty.fork" "popen2.*" "asyncio.create_subprocess_exec" "asyncio.create_subprocess_shell" "multiprocessing.Process" "multiprocessing.Pool" "concurrent.futures.ProcessPoolExecutor" "sh.Command" "pexpect.spawn" "pexpect.run" "plumbum.local" "invoke.run"))
((argument_list [(identifier) (attribute)] @found)
 (#resolves? @found "os.system" "os.popen" "subprocess.run" "subprocess.call" "subprocess.Popen" "subprocess.check_output"))
((decorator [(identifier) (attribute)] @found)
 (#resolves? @found "os.system" "os.popen" "subprocess.run" "subprocess.call" "subprocess.Popen"))
((list [(identifier) (attribute)] @found)
 (#resolves? @found "os.system" "os.popen" "subprocess.run" "subprocess.call" "subprocess.Popen"))
((tuple [(identifier) (attribute)] @found)
 (#resolves? @found "os.system" "os.popen" "subprocess.run" "subprocess.call" "subprocess.Popen"))
((pair value: [(identifier) (attribute)] @found)
 (#resolves? @found "os.system" "os.popen" "subprocess.run" "subprocess.call" "subprocess.Popen"))
((keyword_argument value: [(identifier) (attribute)] @found)
 (#resolves? @found "os.system" "os.popen" "subprocess.run" "subprocess.call" "subprocess.Popen"))
