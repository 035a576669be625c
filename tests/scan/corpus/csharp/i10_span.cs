using System;
class Spans
{
    static int Sum(ReadOnlySpan<int> n)
    {
        int s = 0;
        foreach (var x in n) s += x;
        return s;
    }
    static int Small()
    {
        Span<int> four = stackalloc int[4];
        return Sum(four);
    }
}
