// The same task, solved with the language alone: each line is there as soon as it is known.
using System;
using System.Linq;
using System.Threading;

static class Program
{
    static bool IsPrime(int n)
    {
        return n > 1 && Enumerable.Range(2, (int)Math.Sqrt(n) - 1).All(d => n % d != 0);
    }

    static void Main(string[] words)
    {
        var most = words.Length > 0 ? int.Parse(words[0]) : 100;
        var found = 0;
        for (var n = 2; n < most; n++)
        {
            if (!IsPrime(n))
                continue;
            Console.WriteLine("{0} is prime", n);
            found++;
            Thread.Sleep(50);
        }
        Console.WriteLine("primes below {0}: {1}", most, found);
    }
}
