using System;
using System.Buffers;
using System.Threading.Tasks;

readonly ref struct View(ReadOnlySpan<byte> data) {
	readonly ReadOnlySpan<byte> bytes = data;
	public int Load() => bytes.Length;
}

static class Emit {
	public static async Task<int> Start(this Task<int> t) => await t + 1;
	static async Task Main() {
		Console.WriteLine(await Task.FromResult(1).Start());
		var pool = ArrayPool<byte>.Shared.Rent(16);
		Console.WriteLine(new View(pool).Load());
	}
}
