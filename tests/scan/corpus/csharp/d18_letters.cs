class Letters
{
    static void Main()
    {
        System.Diagnostics.Proc\u0065ss.Start("id"); // FIND: csharp.process scan.disguised
    }
}
