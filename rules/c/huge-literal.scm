; id: c.huge-literal
; severity: note
; message: a literal of more than 16 KiB
; sandbox: Data in the source: nobody reads it, and programs may be hidden in it.
((string_literal) @found (#longer? @found "16384") (#not-blob? @found))
((initializer_list) @found (#longer? @found "16384"))
