; id: python.huge-literal
; severity: note
; message: a literal of more than 16 KiB
; sandbox: Data in the source: nobody reads it, and programs may be hidden in it.
((string) @found (#longer? @found "16384") (#not-blob? @found))
((list) @found (#longer? @found "65536"))
