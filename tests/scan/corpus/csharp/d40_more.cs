using System.Diagnostics;
using System.Reflection;
using System.Runtime.InteropServices;
class M {
	[LibraryImport("libc")] internal static partial int getpid(); // FIND: csharp.pinvoke
	void A(object o) {
		var i = new ProcessStartInfo { FileName = "sh" }; // FIND: csharp.process
		using var p = Process.Start(i); // FIND: csharp.process
		o.GetType().InvokeMember("X", BindingFlags.InvokeMethod, null, o, null); // FIND: csharp.reflection
		NativeLibrary.Load("x.so"); // FIND: csharp.pinvoke
		Assembly.Load(new byte[4]); // FIND: csharp.dynamic-code
		System.IO.File.Delete("/etc/passwd"); // FIND: csharp.outside-file
	}
}
