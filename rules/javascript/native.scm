; id: javascript.native-extension
; severity: error
; message: loads machine code
; sandbox: It runs past the engine; system calls are what the filter leaves.
((call_expression function: (_) @name) @found
 (#resolves? @name "process.dlopen" "process.binding" "process._linkedBinding" "bindings" "node-gyp-build" "node-pre-gyp.find" "ffi-napi.*" "ffi.Library" "koffi.load" "koffi.*" "Deno.dlopen" "bun:ffi.dlopen" "WebAssembly.*"))
((call_expression function: (identifier) @name arguments: (arguments . (string) @word)) @found
 (#eq? @name "require") (#match? @word "[.]node[\"']$"))
((new_expression constructor: (_) @name) @found
 (#resolves? @name "WebAssembly.*" "ffi-napi.*"))
((import_statement source: (string) @word) @found (#match? @word "[.]node[\"']$"))
