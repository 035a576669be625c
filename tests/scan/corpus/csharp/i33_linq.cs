using System;
using System.IO;
using System.Linq;
using System.Text.Json;

record Socket(string Name);

class Q {
	static void Main() {
		var rows = File.ReadLines("data/in.csv").Select(l => l.Split(',')).Where(p => p.Length > 1);
		var x = from r in rows group r by r[0] into g select new { g.Key, N = g.Count() };
		Console.WriteLine(JsonSerializer.Serialize(x) + typeof(Socket).Name + new Socket("DllImport"));
	}
}
