using System;

namespace Own {
	class Process {
		public static void Start(string s) { Console.WriteLine(s); }
		public void Invoke(string s) { }
	}
	class P {
		static void Main() {
			Process.Start("System.Diagnostics.Process.Start");
			new Process().Invoke("GetMethod");
			Action<int> a = x => Console.WriteLine(x);
			a.Invoke(3); // unsafe { }
		}
	}
}
