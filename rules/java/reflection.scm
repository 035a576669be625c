; id: java.reflection
; severity: warning
; message: reaches classes and members that are named when it runs
; sandbox: Which they are cannot be seen before; the sandbox has to hold for any.
((method_invocation) @found
 (#resolves? @found "java.lang.Class.forName()" "java.lang.Class.forName().*()" "java.lang.reflect.Method.invoke()" "java.lang.reflect.Constructor.newInstance()" "java.lang.reflect.Field.set*()" "java.lang.reflect.Proxy.newProxyInstance()" "java.lang.invoke.MethodHandles.lookup()" "java.lang.invoke.MethodHandles.privateLookupIn()" "java.lang.Class.newInstance()" "java.lang.ClassLoader.loadClass()" "java.lang.ClassLoader.getSystemClassLoader().loadClass()"))
((method_reference . (_) @what (identifier) @name .) @found
 (#resolves? @what "java.lang.Class" "java.lang.reflect.Method" "java.lang.ClassLoader") (#any-of? @name "forName" "invoke" "loadClass"))
((method_invocation name: (identifier) @name) @found
 (#any-of? @name "setAccessible" "trySetAccessible" "getDeclaredMethod" "getDeclaredMethods" "getDeclaredField" "getDeclaredFields" "getDeclaredConstructor" "getMethod"))
