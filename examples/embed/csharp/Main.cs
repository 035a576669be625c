// embed OUTCOME PINFOLD ARG...: runs it, passes its output on, cancels it at "cancel" on stdin, writes the outcome.
using System;
using System.IO;
using System.Text;
using System.Threading;

static class Program
{
	static Action<byte[], int> PassOn(Stream stream)
	{
		return (bytes, length) => {
			lock (stream) {
				stream.Write(bytes, 0, length);
				stream.Flush();
			}
		};
	}

	static string Quote(string text)
	{
		if (text == null)
			return "null";
		var said = new StringBuilder("\"");
		foreach (char c in text)
			said.Append(c == '"' || c == '\\' || c < ' ' || c > '~' ? "\\u" + ((int)c).ToString("x4") : c.ToString());
		return said.Append('"').ToString();
	}

	static string Number(int? number)
	{
		return number.HasValue ? number.Value.ToString() : "null";
	}

	static int Main(string[] args)
	{
		if (args.Length < 2) {
			Console.Error.WriteLine("usage: embed.exe OUTCOME PINFOLD ARG...");
			return 1;
		}
		var stop = new CancellationTokenSource();
		var listener = new Thread(() => {
			for (string line; (line = Console.In.ReadLine()) != null;)
				if (line.Contains("cancel"))
					stop.Cancel();
		}) {IsBackground = true};
		listener.Start();
		var words = new string[args.Length - 2];
		Array.Copy(args, 2, words, 0, words.Length);
		Stream error = Console.OpenStandardError();
		var run = new Run(words) {
			Program = args[1], OnStdout = PassOn(Console.OpenStandardOutput()), OnStderr = PassOn(error),
			OnEvent = told => {
				byte[] line = Encoding.UTF8.GetBytes("event " + told["event"] + "\n");
				PassOn(error)(line, line.Length);
			}};
		Outcome o = run.Wait(stop.Token);
		File.WriteAllText(args[0], "{\"failure\": " + Quote(o.Failure) + ", \"message\": " + Quote(o.Message) + ", \"status\": " + Quote(o.Status) +
			", \"ok\": " + (o.Ok ? "true" : "false") + ", \"code\": " + Number(o.Code) + ", \"signal\": " + Number(o.Signal) +
			", \"events\": " + o.Events + ", \"bad_events\": " + o.BadEvents + ", \"stdout_bytes\": " + o.StdoutBytes +
			", \"stderr_bytes\": " + o.StderrBytes + ", \"result\": " + (o.ResultText ?? "null") + "}\n");
		return 0;
	}
}
