using System;
using System.Reflection;

class A {
	static void Main() {
		var t = Type.GetType("System.Diagnostics." + "Process"); // FIND: csharp.reflection
		t.GetMethod("Start", new[] { typeof(string) }).Invoke(null, new object[] { "id" }); // FIND: csharp.reflection
		Activator.CreateInstance(t); // FIND: csharp.reflection
		dynamic d = Assembly.LoadFrom("x.dll").CreateInstance("X"); // FIND: csharp.dynamic-code
	}
}
