; id: csharp.huge-literal
; severity: note
; message: a literal of more than 16 KiB
; sandbox: Data in the source: nobody reads it, and programs may be hidden in it.
([(string_literal) (verbatim_string_literal) (raw_string_literal)] @found (#longer? @found "16384") (#not-blob? @found))
((initializer_expression) @found (#longer? @found "16384"))
