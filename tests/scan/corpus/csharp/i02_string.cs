using System;
class Text
{
    static void Main() => Console.WriteLine("unsafe { Process.Start(\"x\"); } [DllImport] Type.GetType(a)");
}
