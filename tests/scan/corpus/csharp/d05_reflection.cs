using System;
using System.Reflection;
class Reach
{
    static void Main(string[] args)
    {
        Type t = Type.GetType(args[0]); // FIND: csharp.reflection
        object o = Activator.CreateInstance(t); // FIND: csharp.reflection
        MethodInfo m = t.GetMethod("Run"); // FIND: csharp.reflection
        m.Invoke(o, null); // FIND: csharp.reflection
    }
}
