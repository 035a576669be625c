// A submission as a playground gets it: it computes what was asked for, and tries three ways past the runtime.
using System;
using System.Reflection;
using System.Runtime.InteropServices;

static class Program
{
    [DllImport("libc", SetLastError = true)]
    static extern int open(string path, int flags);

    static string ReadByName(string path)
    {
        var file = Type.GetType("System.IO." + "File");
        return (string)file.GetMethod("ReadAllText", new[] { typeof(string) }).Invoke(null, new object[] { path });
    }

    static unsafe long Peek(long address)
    {
        long* at = (long*)address;
        return *at;
    }

    static void Main()
    {
        Console.WriteLine("primes below 100: 25");
        Console.WriteLine("shadow: " + open("/etc/shadow", 0));
        Console.WriteLine(ReadByName("/etc/passwd"));
        Console.WriteLine(Peek(0x1000));
    }
}
