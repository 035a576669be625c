using System;
using System.IO;
class Files
{
    static void Main()
    {
        var a = File.ReadAllText("/etc/passwd"); // FIND: csharp.outside-file
        using var b = new StreamReader("../../secret.txt"); // FIND: csharp.outside-file
        Directory.Delete(@"C:\Users", true); // FIND: csharp.outside-file
        var c = Environment.GetFolderPath(Environment.SpecialFolder.UserProfile); // FIND: csharp.outside-file
    }
}
