using System.Threading.Tasks;
class Later
{
    static async Task<int> Main()
    {
        await Task.Delay(1);
        return await Task.Run(() => 3);
    }
}
