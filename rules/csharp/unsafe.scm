; id: csharp.unsafe
; severity: error
; message: unsafe code: pointers, or memory past the runtime's checks
; sandbox: The runtime's own checks do not hold there; what comes of it the limits and the filter hold.
(unsafe_statement) @found
((modifier) @found (#eq? @found "unsafe"))
(fixed_statement) @found
(stackalloc_expression type: (array_type type: (pointer_type))) @found
((invocation_expression function: (_) @name) @found
 (#resolves? @name "System.Runtime.InteropServices.Marshal.*" "System.Runtime.CompilerServices.Unsafe.*" "System.Buffer.MemoryCopy" "System.Runtime.InteropServices.MemoryMarshal.*" "System.Runtime.InteropServices.GCHandle.*" "System.Runtime.InteropServices.NativeMemory.*"))
