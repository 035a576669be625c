using System;
using System.Collections.Generic;

class V {
	int @unsafe = 1, @class = 2;
	static long Multiply(long @long, long x) => @long *(x) * x;
	static void Main() {
		var s = @"c:\path\""quoted""" + $@"{1 + 1}\x" + """raw "text" here""";
		Console.WriteLine(s + Multiply(2, 3) + new V().@unsafe);
		List<int>? xs = [1, 2, .. new[] { 3 }];
		Console.WriteLine(xs is [1, .., var last] ? last : nameof(Multiply));
	}
}
