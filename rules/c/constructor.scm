; id: c.constructor
; severity: warning
; message: runs before main, or when a library is loaded
; sandbox: Loading it is enough to run it.
((attribute_specifier) @found (#match? @found "constructor|ifunc|init_priority"))
