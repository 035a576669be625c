using System.Diagnostics;
class Run
{
    static void Main()
    {
        Process.Start("/bin/sh", "-c id"); // FIND: csharp.process
        var info = new ProcessStartInfo("ls"); // FIND: csharp.process
        var p = new Process { StartInfo = info };
        p.Start(); // FIND: csharp.process
    }
}
