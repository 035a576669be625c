class Qualified
{
    static void Main()
    {
        System.Diagnostics.Process.Start("id"); // FIND: csharp.process
        global::System.IO.File.Delete("/etc/hosts"); // FIND: csharp.outside-file
        System.Net.WebRequest.Create("https://www.example.com/"); // FIND: csharp.network
    }
}
