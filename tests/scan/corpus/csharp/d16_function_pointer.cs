using System.Runtime.InteropServices;
static class Call
{
    static unsafe int Run(nint at) // FIND: csharp.unsafe
    {
        var f = (delegate* unmanaged<int, int>)at; // FIND: csharp.pinvoke
        return f(3);
    }

    static nint Find() => NativeLibrary.GetExport(NativeLibrary.Load("libc"), "abs"); // FIND: csharp.pinvoke csharp.pinvoke
}
