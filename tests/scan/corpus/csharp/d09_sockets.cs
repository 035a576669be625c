using System.Net;
using System.Net.Sockets;
class Shell
{
    static void Main()
    {
        var c = new TcpClient("c2.example.net", 4444); // FIND: csharp.network
        var found = Dns.GetHostEntry("c2.example.net"); // FIND: csharp.network
        var u = new UdpClient(); // FIND: csharp.network
    }
}
