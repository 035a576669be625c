; id: java.process
; severity: warning
; message: starts a process
; sandbox: Processes count against --pids, and whatever the image has can be run.
((method_invocation) @found
 (#resolves? @found "java.lang.Runtime.exec()" "java.lang.Runtime.getRuntime().exec()" "java.lang.ProcessBuilder.start()" "java.lang.ProcessBuilder.startPipeline()"))
((object_creation_expression type: (_) @name) @found
 (#resolves? @name "java.lang.ProcessBuilder"))
