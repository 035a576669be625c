; id: c.assembly
; severity: warning
; message: machine instructions in the source
; sandbox: They make system calls of their own; the filter is what holds them.
(gnu_asm_expression) @found
