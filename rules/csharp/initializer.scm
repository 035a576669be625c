; id: csharp.initializer
; severity: warning
; message: runs when the assembly is loaded
; sandbox: Loading it is enough to run it.
((attribute name: (_) @name) @found
 (#match? @name "(^|[.])ModuleInitializer(Attribute)?$"))
