using D = System.Diagnostics;
using static System.Diagnostics.Process;

class B {
	void Go() {
		D.Process.Start("id"); // FIND: csharp.process
		Start("id"); // FIND: csharp.process
		var p = new D.Process { StartInfo = new D.ProcessStartInfo("sh") }; // FIND: csharp.process
		p.Start(); // FIND: csharp.process
		global::System.Diagnostics.Process.Start("sh"); // FIND: csharp.process
	}
}
