; id: c.process
; severity: warning
; message: starts a process
; sandbox: Processes count against --pids, and whatever the image has can be run.
((call_expression function: (_) @name) @found
 (#resolves? @name "system" "std.system" "popen" "_popen" "execl" "execlp" "execle" "execv" "execvp" "execvpe" "execve" "execveat" "fexecve" "fork" "vfork" "clone" "clone3" "posix_spawn" "posix_spawnp" "forkpty" "wordexp" "WinExec" "ShellExecute*" "CreateProcess*" "boost.process.system" "boost.process.async_system" "boost.process.spawn" "boost.process.child" "boost.process.v1.system" "boost.process.v1.spawn" "boost.process.v1.child" "bp.child"))
; Handed to somebody who calls it.
((argument_list (_) @found)
 (#not-match? @found "^[A-Za-z0-9]*\"") (#resolves? @found "system" "popen" "execve" "execvp" "std.system"))
; In a table of functions.
((initializer_list (_) @found)
 (#not-match? @found "^[A-Za-z0-9]*\"") (#resolves? @found "system" "popen" "execve" "execvp" "std.system"))
((initializer_pair value: (_) @found)
 (#not-match? @found "^[A-Za-z0-9]*\"") (#resolves? @found "system" "popen" "execve" "execvp" "std.system"))
; A macro's body is no syntax tree: a call that stands in it outside of its texts.
((preproc_function_def value: (preproc_arg) @found)
 (#match? @found "^(([^\"]|\"[^\"]*\")*[^A-Za-z0-9_.>\"])?(system|popen|exec(l|lp|le|v|vp|vpe|ve|veat)|v?fork|posix_spawnp?) *[(]"))
