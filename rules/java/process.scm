; id: java.process
; severity: warning
; message: starts a process
; sandbox: Processes count against --pids, and whatever the image has can be run.
((method_invocation) @found
 (#resolves? @found "java.lang.Runtime.exec()" "java.lang.Runtime.getRuntime().exec()" "java.lang.ProcessBuilder.start()" "java.lang.ProcessBuilder.startPipeline()"))
((method_reference . (_) @what (identifier) @name .) @found
 (#resolves? @what "java.lang.Runtime" "java.lang.Runtime.getRuntime()") (#any-of? @name "exec" "getRuntime"))
((method_reference . (_) @what "new") @found
 (#resolves? @what "java.lang.ProcessBuilder"))
((object_creation_expression type: (_) @name) @found
 (#resolves? @name "java.lang.ProcessBuilder"))
