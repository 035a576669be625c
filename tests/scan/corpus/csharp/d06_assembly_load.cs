using System.IO;
using System.Reflection;
class Load
{
    static void Main()
    {
        var a = Assembly.Load(File.ReadAllBytes("x.bin")); // FIND: csharp.dynamic-code
        Assembly.LoadFrom("y.dll"); // FIND: csharp.dynamic-code
        a.EntryPoint.Invoke(null, null);
    }
}
