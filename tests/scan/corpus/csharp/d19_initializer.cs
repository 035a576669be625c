using System.Runtime.CompilerServices;
static class Setup
{
    [ModuleInitializer] // FIND: csharp.initializer
    internal static void Run() { }
}
