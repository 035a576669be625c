; id: c.obfuscated
; severity: warning
; message: a literal that hides what it is
; sandbox: Something is carried in a form that nobody reads: look at what decodes or calls it.
((string_literal) @found (#blob? @found))
((concatenated_string) @found (#match? @found "(\\\\x[0-9a-fA-F]{2}[\" \n\t]*){40}"))
((string_literal) @found (#match? @found "(\\\\x[0-9a-fA-F]{2}){24}") (#not-blob? @found))
