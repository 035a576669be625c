; id: python.dynamic-code
; severity: error
; message: runs text or bytes as code
; sandbox: What runs is not what stands here: no look at the source says what it does.
((call function: (_) @name) @found
 (#resolves? @name "eval" "exec" "execfile" "builtins.eval" "builtins.exec" "__builtins__.eval" "__builtins__.exec" "code.InteractiveInterpreter" "code.InteractiveConsole" "code.interact" "types.FunctionType" "types.CodeType" "marshal.load" "marshal.loads" "runpy.run_path" "runpy.run_module" "timeit.timeit"))
((call function: (_) @name) @found
 (#resolves? @name "compile" "builtins.compile" "__builtins__.compile"))
; Handed to somebody who calls it.
((argument_list [(identifier) (attribute)] @found)
 (#resolves? @found "eval" "exec" "builtins.eval" "builtins.exec"))
((keyword_argument value: [(identifier) (attribute)] @found)
 (#resolves? @found "eval" "exec" "builtins.eval" "builtins.exec"))
((decorator [(identifier) (attribute)] @found)
 (#resolves? @found "eval" "exec" "builtins.eval" "builtins.exec"))
; Kept in a table.
((list [(identifier) (attribute)] @found)
 (#resolves? @found "eval" "exec" "builtins.eval" "builtins.exec"))
((tuple [(identifier) (attribute)] @found)
 (#resolves? @found "eval" "exec" "builtins.eval" "builtins.exec"))
((pair value: [(identifier) (attribute)] @found)
 (#resolves? @found "eval" "exec" "builtins.eval" "builtins.exec"))
((call function: (_) @name arguments: (argument_list . (_) @what . (_) @member)) @found
 (#eq? @name "getattr") (#resolves? @what "builtins" "__builtins__") (#not-literal? @member))
((subscript value: (call function: (_) @name) subscript: (string)) @found
 (#any-of? @name "globals" "locals" "vars") (#match? @found "(eval|exec|__builtins__|__import__)"))
((subscript value: (attribute object: (identifier) @what attribute: (identifier) @dict)) @found
 (#resolves? @what "builtins" "__builtins__" "os") (#eq? @dict "__dict__"))
