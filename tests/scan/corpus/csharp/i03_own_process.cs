class Process
{
    public static int Start(string name) => name.Length;
}
class Use
{
    static int Main() => Process.Start("washing");
}
