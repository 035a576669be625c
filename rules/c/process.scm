; id: c.process
; severity: warning
; message: starts a process
; sandbox: Processes count against --pids, and whatever the image has can be run.
((call_expression function: (_) @name) @found
 (#resolves? @name "system" "std.system" "popen" "_popen" "execl" "execlp" "execle" "execv" "execvp" "execvpe" "execve" "execveat" "fexecve" "fork" "vfork" "clone" "clone3" "posix_spawn" "posix_spawnp" "forkpty" "wordexp" "WinExec" "ShellExecute*" "CreateProcess*" "boost.process.*" "bp.child"))
; Handed to somebody who calls it.
((argument_list (_) @found)
 (#resolves? @found "system" "popen" "execve" "execvp" "std.system"))
