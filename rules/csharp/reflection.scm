; id: csharp.reflection
; severity: warning
; message: reaches types and members that are named when it runs
; sandbox: Which they are cannot be seen before; the sandbox has to hold for any.
((invocation_expression function: (_) @name) @found
 (#resolves? @name "System.Type.GetType" "System.Activator.CreateInstance*" "System.Type.GetType().*" "System.Reflection.MethodInfo.Invoke" "System.Reflection.MethodBase.Invoke" "System.Reflection.ConstructorInfo.Invoke" "System.Reflection.FieldInfo.SetValue" "System.Reflection.PropertyInfo.SetValue" "System.Type.InvokeMember" "System.Delegate.CreateDelegate" "System.Reflection.Assembly.GetExecutingAssembly().*" "System.Type.GetTypeFromProgID" "System.Reflection.Assembly.CreateInstance" "System.Reflection.Assembly.GetType"))
((invocation_expression function: (member_access_expression name: (identifier) @name)) @found
 (#any-of? @name "GetMethod" "GetMethods" "GetField" "GetFields" "GetConstructor" "GetRuntimeMethod" "GetNestedType" "InvokeMember" "MakeGenericMethod" "MakeGenericType"))
((invocation_expression function: (conditional_access_expression (member_binding_expression name: (identifier) @name))) @found
 (#any-of? @name "GetMethod" "GetField" "InvokeMember"))
