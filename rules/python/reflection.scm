; id: python.reflection
; severity: warning
; message: loads or reaches what is named when it runs
; sandbox: Which module or function that is cannot be seen before; the sandbox has to hold for any.
((call function: (_) @name arguments: (argument_list . (_) @word)) @found
 (#resolves? @name "__import__" "builtins.__import__" "importlib.import_module" "importlib.__import__" "imp.load_module" "imp.find_module" "pydoc.locate" "pkgutil.resolve_name")
 (#not-literal? @word))
((call function: (_) @name) @found
 (#resolves? @name "imp.load_source" "importlib.util.spec_from_file_location" "importlib.machinery.SourceFileLoader" "zipimport.zipimporter" "sys.settrace" "sys._getframe" "gc.get_objects" "inspect.currentframe"))
((call function: (_) @name arguments: (argument_list . (_) @what . (_) @member)) @found
 (#eq? @name "getattr") (#resolves? @what "os" "sys" "subprocess" "socket" "shutil" "posix" "importlib") (#not-literal? @member))
((attribute attribute: (identifier) @member) @found
 (#any-of? @member "__subclasses__" "__globals__" "__code__" "__bases__"))
