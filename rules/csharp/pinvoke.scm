; id: csharp.pinvoke
; severity: error
; message: calls machine code past the runtime (P/Invoke)
; sandbox: Any function of any library in the image; system calls are what the filter leaves.
((attribute name: (_) @name) @found
 (#resolves? @name "*DllImport" "*DllImportAttribute" "*LibraryImport" "*LibraryImportAttribute" "*UnmanagedCallersOnly"))
((invocation_expression function: (_) @name) @found
 (#resolves? @name "System.Runtime.InteropServices.NativeLibrary.*"))
(function_pointer_type) @found
