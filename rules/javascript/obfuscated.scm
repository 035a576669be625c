; id: javascript.obfuscated
; severity: warning
; message: a literal or names that hide what they are
; sandbox: Something is carried in a form that nobody reads: look at what decodes it.
([(string) (template_string)] @found (#blob? @found))
((string) @found (#match? @found "(\\\\x[0-9a-fA-F]{2}){8}") (#not-blob? @found))
((variable_declarator name: (identifier) @name value: (array)) @found
 (#match? @name "^_0x[0-9a-f]{3,}$"))
((function_declaration name: (identifier) @name) @found
 (#match? @name "^_0x[0-9a-f]{3,}$"))
