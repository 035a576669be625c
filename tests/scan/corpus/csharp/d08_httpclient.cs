using System.Net.Http;
using System.Threading.Tasks;
class Fetch
{
    static async Task Main()
    {
        var client = new HttpClient(); // FIND: csharp.network
        var text = await client.GetStringAsync("https://data.example.org/x"); // FIND: csharp.network
        System.Console.WriteLine(text);
    }
}
