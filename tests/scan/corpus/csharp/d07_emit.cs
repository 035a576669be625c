using System;
using System.Reflection.Emit;
class Emit
{
    static int Main()
    {
        var m = new DynamicMethod("f", typeof(int), new Type[0]); // FIND: csharp.dynamic-code
        var il = m.GetILGenerator(); // FIND: csharp.dynamic-code
        il.Emit(OpCodes.Ldc_I4_7);
        il.Emit(OpCodes.Ret);
        return (int)m.Invoke(null, null);
    }
}
