using System;
using System.Runtime.InteropServices;
class Memory
{
    static void Main()
    {
        IntPtr p = Marshal.AllocHGlobal(64); // FIND: csharp.unsafe
        Marshal.WriteInt32(p, 7); // FIND: csharp.unsafe
        var f = Marshal.GetDelegateForFunctionPointer<Action>(p); // FIND: csharp.unsafe
        f();
    }
}
