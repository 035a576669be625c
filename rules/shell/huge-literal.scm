; id: shell.huge-literal
; severity: note
; message: a literal of more than 16 KiB
; sandbox: Data in the source: nobody reads it, and programs may be hidden in it.
([(string) (raw_string) (heredoc_body)] @found (#longer? @found "16384") (#not-blob? @found))
