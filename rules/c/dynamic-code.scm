; id: c.dynamic-code
; severity: error
; message: loads or makes code when it runs
; sandbox: What runs is not what stands here: no look at the source says what it does.
((call_expression function: (_) @name) @found
 (#resolves? @name "dlopen" "dlmopen" "dlsym" "dlvsym" "LoadLibrary*" "GetProcAddress" "VirtualAlloc*" "VirtualProtect*" "memfd_create" "tcc_compile_string" "luaL_dostring" "PyRun_SimpleString" "PyRun_String"))
((call_expression function: (_) @name arguments: (_) @words) @found
 (#resolves? @name "mmap" "mmap64" "mprotect" "pkey_mprotect") (#match? @words "PROT_EXEC"))
; A number or a buffer that is called as a function.
((call_expression function: (parenthesized_expression (cast_expression type: (type_descriptor declarator: (_) @type)))) @found
 (#match? @type "\\("))
((call_expression function: (parenthesized_expression (pointer_expression argument: (_) @inside))) @found
 (#match? @inside "^\\(.*\\(\\*\\).*\\)"))
