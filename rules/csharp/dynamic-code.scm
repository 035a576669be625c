; id: csharp.dynamic-code
; severity: error
; message: makes or loads code when it runs
; sandbox: What runs is not what stands here: no look at the source says what it does.
((invocation_expression function: (_) @name) @found
 (#resolves? @name "System.Reflection.Assembly.Load" "System.Reflection.Assembly.LoadFrom" "System.Reflection.Assembly.LoadFile" "System.Reflection.Assembly.LoadWithPartialName" "System.Reflection.Assembly.ReflectionOnlyLoad*" "System.Reflection.Assembly.UnsafeLoadFrom" "System.AppDomain.CurrentDomain.Load" "System.AppDomain.*.ExecuteAssembly" "*CSharpScript.EvaluateAsync*" "*CSharpScript.RunAsync*" "*CSharpScript.Create*" "*CSharpCompilation.Create" "System.Runtime.Loader.AssemblyLoadContext.*" "Microsoft.CSharp.CSharpCodeProvider.*" "*.CompileAssemblyFromSource" "System.Linq.Expressions.Expression.Lambda*"))
((object_creation_expression type: (_) @name) @found
 (#resolves? @name "System.Reflection.Emit.*" "Microsoft.CSharp.CSharpCodeProvider" "System.Runtime.Loader.AssemblyLoadContext"))
((invocation_expression function: (member_access_expression name: (identifier) @name)) @found
 (#any-of? @name "DefineDynamicAssembly" "DefineDynamicModule" "GetILGenerator" "CompileAssemblyFromSource" "LoadFromAssemblyPath" "LoadFromStream"))
