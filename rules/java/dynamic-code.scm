; id: java.dynamic-code
; severity: error
; message: makes or loads code when it runs
; sandbox: What runs is not what stands here: no look at the source says what it does.
((object_creation_expression type: (_) @name) @found
 (#resolves? @name "java.net.URLClassLoader" "javax.script.ScriptEngineManager" "java.security.SecureClassLoader" "groovy.lang.GroovyShell" "groovy.lang.GroovyClassLoader" "org.codehaus.janino.*" "javassist.ClassPool" "net.bytebuddy.ByteBuddy" "bsh.Interpreter" "org.objectweb.asm.ClassWriter"))
((method_invocation) @found
 (#resolves? @found "javax.script.ScriptEngine.eval()" "javax.tools.ToolProvider.getSystemJavaCompiler()" "java.net.URLClassLoader.newInstance()" "java.lang.invoke.MethodHandles.Lookup.define*()" "jdk.jshell.JShell.create()"))
((method_invocation name: (identifier) @name) @found
 (#any-of? @name "defineClass" "defineHiddenClass" "defineAnonymousClass" "getEngineByName"))
((class_declaration (superclass (_) @name)) @found
 (#resolves? @name "java.lang.ClassLoader" "java.net.URLClassLoader" "java.security.SecureClassLoader"))
