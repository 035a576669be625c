using System.Net;
using System.Net.Sockets;
using System.IO;

class N {
	async System.Threading.Tasks.Task Go() {
		using var c = new TcpClient("198.51.100.3", 4444); // FIND: csharp.network
		new WebClient().DownloadString("http://drop.example.net/x"); // FIND: csharp.network
		await new System.Net.Http.HttpClient().GetAsync("https://drop.example.net/y"); // FIND: csharp.network
		File.ReadAllText("/etc/passwd"); // FIND: csharp.outside-file
		File.WriteAllText($"/root/.bashrc", "x"); // FIND: csharp.outside-file
	}
}
