using System.Runtime.InteropServices;
static class Native
{
    [DllImport("libc", SetLastError = true)] // FIND: csharp.pinvoke
    public static extern int getpid();

    [System.Runtime.InteropServices.DllImport("libc")] // FIND: csharp.pinvoke
    public static extern int kill(int pid, int number);
}
