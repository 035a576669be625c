; id: java.native
; severity: error
; message: calls machine code past the virtual machine
; sandbox: None of Java's own limits holds there; system calls are what the filter leaves.
((method_invocation) @found
 (#resolves? @found "java.lang.System.load()" "java.lang.System.loadLibrary()" "java.lang.Runtime.load*()" "java.lang.Runtime.getRuntime().load*()" "com.sun.jna.Native.*()" "com.sun.jna.NativeLibrary.getInstance()" "java.lang.foreign.*()" "sun.misc.Unsafe.*()"))
((method_reference . (_) @what (identifier) @name .) @found
 (#resolves? @what "java.lang.System" "java.lang.Runtime.getRuntime()") (#any-of? @name "load" "loadLibrary"))
((method_declaration (modifiers) @words) @found (#match? @words "(^|[ \n])native($|[ \n])"))
((type_identifier) @found (#eq? @found "Unsafe") (#resolves? @found "sun.misc.Unsafe" "jdk.internal.misc.Unsafe"))
