; id: cpp.assembly
; severity: warning
; message: machine instructions in the source
; sandbox: They make system calls of their own; the filter is what holds them.
((call_expression function: (identifier) @name) @found (#any-of? @name "_asm" "__asm"))
