; id: csharp.obfuscated
; severity: warning
; message: a literal that hides what it is
; sandbox: Something is carried in a form that nobody reads: look at what decodes it.
([(string_literal) (verbatim_string_literal) (raw_string_literal)] @found (#blob? @found))
