; id: shell.obfuscated
; severity: warning
; message: decodes or hides what it is
; sandbox: Something is carried in a form that nobody reads: look at what becomes of it.
((command name: (_) @name argument: (_) @word) @found
 (#resolves? @name "base64" "base32" "openssl" "*/base64") (#any-of? @word "-d" "--decode" "-D" "-di" "enc"))
((command name: (_) @name argument: (_) @word) @found
 (#resolves? @name "xxd" "uudecode") (#match? @word "^-[a-z]*r"))
([(string) (raw_string) (word) (ansi_c_string)] @found (#blob? @found))
((ansi_c_string) @found (#match? @found "(\\\\(x[0-9a-fA-F]{2}|[0-7]{3})){6}") (#not-blob? @found))
