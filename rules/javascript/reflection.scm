; id: javascript.reflection
; severity: warning
; message: loads what is named when it runs
; sandbox: Which module that is cannot be seen before; the sandbox has to hold for any.
((call_expression function: (identifier) @name arguments: (arguments . (_) @word)) @found
 (#eq? @name "require") (#not-literal? @word))
((call_expression function: (import) arguments: (arguments . (_) @word)) @found
 (#not-literal? @word))
((call_expression function: (import) arguments: (arguments . (template_string (template_substitution)))) @found)
((call_expression function: (identifier) @name arguments: (arguments . (template_string (template_substitution)))) @found
 (#eq? @name "require"))
((call_expression function: (_) @name) @found
 (#resolves? @name "process.mainModule.require" "module.constructor._load" "module._load" "Module._load" "module.createRequire" "globalThis.process.mainModule.require"))
((subscript_expression object: (_) @what index: (_) @word) @found
 (#resolves? @what "child_process" "process" "fs" "globalThis" "global" "window") (#not-literal? @word) (#not-match? @word "^[0-9]+$"))
