using Microsoft.CodeAnalysis.CSharp.Scripting;
using System.Threading.Tasks;
class Script
{
    static async Task Main(string[] args)
    {
        await CSharpScript.EvaluateAsync(args[0]); // FIND: csharp.dynamic-code
    }
}
