using System.IO;
class Files
{
    static void Main()
    {
        File.WriteAllText("out/result.txt", File.ReadAllText("data/x.txt"));
        Directory.CreateDirectory("out");
        using var w = new StreamWriter("/tmp/scratch.txt");
    }
}
