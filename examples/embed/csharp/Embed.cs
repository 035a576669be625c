// Run `pinfold run` from C#: stream its output and its events, read its result, cancel it. It never throws.
//
//   Outcome outcome = new Run(new[] {"--wall", "60s", "@host", "echo", "hello"}) {OnStdout = (bytes, length) => ...}.Wait(token);
//   outcome.Ok, outcome.Status, outcome.Failure, outcome.Result
//
// .NET hands a child no descriptors beyond the first three, so events come through a FIFO and the result through a file, both in a folder
// of its own. C# 5 and the class library alone: Mono's here.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

public sealed class Outcome
{
	// null where there is a result; then Status, Ok and all else is the result's.
	//   not-found, not-executable, not-started: pinfold did not run. killed: it was, and left no result.
	//   no-result, bad-result: it ended without one that can be read. callback: one of the caller's threw, and the run was cancelled.
	public string Failure, Message;
	public bool Ok;
	public string Status = "no-result";
	public Dictionary<string, object> Result;
	public string ResultText;
	public int? Code, Signal; // of pinfold itself
	public long Events, BadEvents, StdoutBytes, StderrBytes;

	internal void Fail(string failure, string message)
	{
		lock (this) {
			if (Failure == null) {
				Failure = failure;
				Message = message;
			}
		}
	}
}

public sealed class Run
{
	const int ResultMax = 16 << 20; // bytes of a result document
	const int LineMax = 4 << 20;    // bytes of one event
	const int DrainMs = 5000;       // what pipes may take when pinfold has ended
	const int CancelMs = 30000;     // what pinfold may take to end a run, its --grace among it
	const int TERM = 15, KILL = 9;

	public string Program = "pinfold";
	public Action<byte[], int> OnStdout, OnStderr;
	public Action<Dictionary<string, object>> OnEvent;

	readonly string[] arguments;
	readonly Outcome outcome = new Outcome();
	readonly StringBuilder said = new StringBuilder();
	readonly object ending = new object();
	Process process;
	Timer patience;
	bool cancelled, reaped;
	long progress;
	int busy;

	[DllImport("libc", SetLastError = true)]
	static extern int mkfifo(string path, uint mode);
	[DllImport("libc", SetLastError = true)]
	static extern int kill(int pid, int signal);
	[DllImport("libc", SetLastError = true)]
	static extern IntPtr mkdtemp(StringBuilder template);

	// arguments: those behind `pinfold run`; no shell sees them.
	public Run(string[] arguments)
	{
		this.arguments = arguments;
	}

	// The whole run, to its end. The token cancels it: from any thread, also before.
	public Outcome Wait(CancellationToken token)
	{
		string folder = null;
		try {
			var name = new StringBuilder(Path.Combine(Path.GetTempPath(), "embed-XXXXXX"));
			if (mkdtemp(name) == IntPtr.Zero || mkfifo(Path.Combine(name.ToString(), "events"), 0x180) != 0)
				throw new IOException("no folder for events and result");
			folder = name.ToString();
			// Open both ways before there is a writer: else this would wait for one, and pinfold would find no reader.
			using (var events = new FileStream(Path.Combine(folder, "events"), FileMode.Open, FileAccess.ReadWrite, FileShare.ReadWrite, 1))
				if (Start(folder))
					using (token.Register(Cancel))
						Attend(folder, events);
		} catch (Exception error) { // whatever it is: the caller gets an outcome
			outcome.Fail("not-started", error.Message);
			Send(KILL);
		}
		if (patience != null)
			patience.Dispose();
		try {
			if (folder != null)
				Directory.Delete(folder, true);
		} catch (Exception) {
			// what is left is empty or small, and nobody else's to read
		}
		return outcome;
	}

	// TERM to pinfold, which ends the whole sandbox and still writes its result.
	public void Cancel()
	{
		lock (ending) {
			if (cancelled)
				return;
			cancelled = true;
		}
		Send(TERM);
		patience = new Timer(_ => Send(KILL), null, CancelMs, Timeout.Infinite);
	}

	// Only to a process that is there: its number may be another's when it has been waited for.
	void Send(int signal)
	{
		lock (ending) {
			if (process != null && !reaped)
				kill(process.Id, signal);
		}
	}

	// ProcessStartInfo takes one string and splits it by these rules: quotes, and backslashes before them.
	// (.NET has ArgumentList, which takes the words as they are.)
	static string Quote(string word)
	{
		var text = new StringBuilder("\"");
		foreach (char c in word) {
			if (c == '"' || c == '\\')
				text.Append('\\');
			text.Append(c);
		}
		return text.Append('"').ToString();
	}

	bool Start(string folder)
	{
		var line = new StringBuilder("run");
		line.Append(" --events=" + Quote(Path.Combine(folder, "events")) + " --result=" + Quote(Path.Combine(folder, "result")));
		foreach (string word in arguments) {
			if (word.IndexOf('\0') >= 0) {
				outcome.Fail("not-started", "an argument holds a NUL");
				return false;
			}
			line.Append(' ').Append(Quote(word));
		}
		// The search is ours, so that what is missing and what may not be executed have names of their own.
		string path = Find(Program);
		if (path == null)
			return false;
		process = new Process {StartInfo = new ProcessStartInfo(path, line.ToString()) {
			UseShellExecute = false, RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true}};
		try {
			process.Start();
		} catch (Exception error) {
			process = null;
			outcome.Fail("not-started", error.Message);
			return false;
		}
		process.StandardInput.Close();
		return true;
	}

	[DllImport("libc", SetLastError = true)]
	static extern int access(string path, int mode);

	string Find(string program)
	{
		string found = null;
		if (program.IndexOf('/') >= 0)
			found = program;
		else
			foreach (string folder in (Environment.GetEnvironmentVariable("PATH") ?? "").Split(':'))
				if (found == null && folder != "" && File.Exists(Path.Combine(folder, program)))
					found = Path.Combine(folder, program);
		if (found == null || !File.Exists(found))
			outcome.Fail("not-found", program + ": there is no such file");
		else if (access(found, 1) != 0)
			outcome.Fail("not-executable", program + ": it may not be executed");
		return outcome.Failure == null ? found : null;
	}

	// ---- each stream has a thread of its own, so that no full pipe holds up another ----

	void Attend(string folder, FileStream events)
	{
		var threads = new[] {Spawn(() => Pump(process.StandardOutput.BaseStream, TakeStdout)),
				     Spawn(() => Pump(process.StandardError.BaseStream, TakeStderr)), Spawn(() => PumpEvents(events))};
		process.WaitForExit();
		int code;
		lock (ending) {
			reaped = true;
			code = process.ExitCode;
		}
		// Nobody else says that the FIFO has ended.
		using (var end = new FileStream(events.Name, FileMode.Open, FileAccess.Write, FileShare.ReadWrite, 1))
			end.Write(new byte[] {0, 10}, 0, 2);
		foreach (Thread thread in threads)
			Join(thread);
		Conclude(code, Path.Combine(folder, "result"));
	}

	static Thread Spawn(Action work)
	{
		var thread = new Thread(() => {
			try {
				work();
			} catch (Exception) {
				// the stream broke: what came is what there is
			}
		}) {IsBackground = true};
		thread.Start();
		return thread;
	}

	// As long as something comes it is waited for; when nothing does, something else holds the pipe open.
	void Join(Thread thread)
	{
		for (long before = -1; !thread.Join(DrainMs) && (before != Interlocked.Read(ref progress) || busy > 0);)
			before = Interlocked.Read(ref progress);
	}

	void Pump(Stream stream, Action<byte[], int> take)
	{
		var bytes = new byte[65536];
		for (int length; (length = stream.Read(bytes, 0, bytes.Length)) > 0;) {
			Interlocked.Increment(ref busy);
			take(bytes, length);
			Interlocked.Decrement(ref busy);
			Interlocked.Increment(ref progress);
		}
	}

	// One byte at a time would be slow, more would wait for a full buffer: Read returns what is there.
	void PumpEvents(Stream stream)
	{
		var bytes = new byte[65536];
		var line = new List<byte>();
		for (int length; (length = stream.Read(bytes, 0, bytes.Length)) > 0;) {
			for (int i = 0; i < length; i++) {
				if (bytes[i] != 10) {
					if (line.Count <= LineMax)
						line.Add(bytes[i]);
					continue;
				}
				if (line.Count > 0 && line[line.Count - 1] == 0)
					return; // our own; what is before it was cut off
				TakeEvent(line);
				line.Clear();
			}
			Interlocked.Increment(ref progress);
		}
	}

	void Call(Action callback)
	{
		if (outcome.Failure != null)
			return;
		try {
			callback();
		} catch (Exception error) {
			outcome.Fail("callback", error.Message);
			Cancel();
		}
	}

	void TakeStdout(byte[] bytes, int length)
	{
		outcome.StdoutBytes += length;
		if (OnStdout != null)
			Call(() => OnStdout(bytes, length));
	}

	void TakeStderr(byte[] bytes, int length)
	{
		outcome.StderrBytes += length;
		said.Append(Encoding.UTF8.GetString(bytes, 0, length));
		if (said.Length > 2000)
			said.Remove(0, said.Length - 2000);
		if (OnStderr != null)
			Call(() => OnStderr(bytes, length));
	}

	void TakeEvent(List<byte> line)
	{
		Dictionary<string, object> found = null;
		if (line.Count <= LineMax)
			found = Json.ReadObject(Encoding.UTF8.GetString(line.ToArray()), "pinfold.event/1");
		if (found == null) {
			outcome.BadEvents++;
			return;
		}
		outcome.Events++;
		if (OnEvent != null)
			Call(() => OnEvent(found));
	}

	// ---- the end ----

	void Conclude(int code, string path)
	{
		// Mono tells a signal as 128 and its number, as a shell does; pinfold's own codes above that come with a result.
		outcome.Code = code;
		var file = new FileInfo(path);
		if (!file.Exists) {
			bool killed = code > 128 && code < 193;
			if (killed) {
				outcome.Signal = code - 128;
				outcome.Code = null;
			}
			string text = said.ToString().Trim();
			outcome.Fail(killed ? "killed" : "no-result", text != "" ? text : "pinfold ended with " + code + " and wrote no result");
			return;
		}
		if (file.Length > ResultMax) {
			outcome.Fail("bad-result", "the result is too large");
			return;
		}
		string document = File.ReadAllText(path);
		var result = Json.ReadObject(document, "pinfold.result/1");
		object status = null, ok = null;
		if (result == null || !result.TryGetValue("status", out status) || !(status is string) || !result.TryGetValue("ok", out ok) || !(ok is bool)) {
			outcome.Fail("bad-result", result == null ? "the result is no JSON, or no pinfold.result/1" : "the result has no status");
			return;
		}
		outcome.Result = result;
		outcome.ResultText = document;
		outcome.Status = (string)status;
		outcome.Ok = (bool)ok && outcome.Failure == null;
	}
}
