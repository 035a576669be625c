using System.Linq;
namespace Own;
static class Assembly { public static int Load(byte[] b) => b.Length; }
class Type2 { public static object GetType(string s) => s; }
class M {
	int Invoke(int x) => x;
	void A() {
		Assembly.Load(new byte[2]);
		Type2.GetType("System.Diagnostics.Process");
		new[] { 1 }.Select(Invoke).ToList().ForEach(i => { });
	}
}
