; id: cpp.process
; severity: warning
; message: starts a process through a library
; sandbox: Processes count against --pids, and whatever the image has can be run.
((declaration type: (_) @type declarator: (init_declarator)) @found
 (#resolves? @type "boost.process.child" "boost.process.v1.child" "boost.process.v2.process" "boost.process.process" "bp.child" "bp.process" "subprocess.Popen"))
((declaration type: (_) @type) @found
 (#resolves? @type "QProcess"))
