using System;
using System.Runtime.InteropServices;

class C {
	unsafe static long Read(object x, int* p) { // FIND: csharp.unsafe
		long v = *(long*)x.GetHashCode();
		*p = 3;
		return v;
	}
	[DllImport("libc", EntryPoint = "system")] static extern int Run(string s); // FIND: csharp.pinvoke
	static void Main() {
		Marshal.WriteInt32(new IntPtr(64), 1); // FIND: csharp.unsafe
		Run("id");
	}
}
