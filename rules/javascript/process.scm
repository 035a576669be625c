; id: javascript.process
; severity: warning
; message: starts a process
; sandbox: Processes count against --pids, and whatever the image has can be run.
((call_expression function: (_) @name) @found
 (#resolves? @name "child_process.*" "execa" "execa.*" "shelljs.exec" "cross-spawn" "cross-spawn.*" "cluster.fork" "Deno.run" "Bun.spawn*" "node-pty.spawn" "zx.$" "process.kill"))
((new_expression constructor: (_) @name) @found
 (#resolves? @name "Deno.Command" "worker_threads.Worker"))
; Handed to somebody who calls it, or kept in a table.
((arguments [(identifier) (member_expression)] @found)
 (#resolves? @found "child_process.exec" "child_process.execFile" "child_process.spawn" "child_process.execSync" "child_process.spawnSync"))
((array [(identifier) (member_expression)] @found)
 (#resolves? @found "child_process.exec" "child_process.execFile" "child_process.spawn" "child_process.execSync" "child_process.spawnSync"))
((pair value: [(identifier) (member_expression)] @found)
 (#resolves? @found "child_process.exec" "child_process.execFile" "child_process.spawn" "child_process.execSync" "child_process.spawnSync"))
