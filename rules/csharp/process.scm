; id: csharp.process
; severity: warning
; message: starts a process
; sandbox: Processes count against --pids, and whatever the image has can be run.
((invocation_expression function: (_) @name) @found
 (#resolves? @name "System.Diagnostics.Process.Start"))
((object_creation_expression type: (_) @name) @found
 (#resolves? @name "System.Diagnostics.ProcessStartInfo"))
