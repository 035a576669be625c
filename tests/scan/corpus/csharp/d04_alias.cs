using P = System.Diagnostics.Process;
using static System.Diagnostics.Process;
class Run
{
    static void Main()
    {
        P.Start("id"); // FIND: csharp.process
        Start("id"); // FIND: csharp.process
    }
}
