// JSON (RFC 8259) to Dictionary<string, object>, List<object>, string, long, double, bool and null. Strict, and bounded in depth.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text;

public static class Json
{
	const int DepthMax = 32;

	// An object whose "schema" is that; null: it is none.
	public static Dictionary<string, object> ReadObject(string text, string schema)
	{
		try {
			var found = Read(text) as Dictionary<string, object>;
			object told = null;
			return found != null && found.TryGetValue("schema", out told) && schema.Equals(told) ? found : null;
		} catch (FormatException) {
			return null;
		}
	}

	// FormatException where it is no JSON.
	public static object Read(string text)
	{
		int at = 0;
		object value = Value(text, ref at, 0);
		Skip(text, ref at);
		if (at != text.Length)
			throw new FormatException("something stands behind the end");
		return value;
	}

	static void Skip(string text, ref int at)
	{
		while (at < text.Length && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r'))
			at++;
	}

	static char Next(string text, ref int at)
	{
		Skip(text, ref at);
		if (at == text.Length)
			throw new FormatException("it ends in the middle");
		return text[at];
	}

	static void Take(string text, ref int at, string word)
	{
		if (string.CompareOrdinal(text, at, word, 0, word.Length) != 0)
			throw new FormatException("no value");
		at += word.Length;
	}

	static object Value(string text, ref int at, int depth)
	{
		if (depth > DepthMax)
			throw new FormatException("nested too deep");
		switch (Next(text, ref at)) {
		case '{':
			return Members(text, ref at, depth);
		case '[':
			return Elements(text, ref at, depth);
		case '"':
			return Text(text, ref at);
		case 't':
			Take(text, ref at, "true");
			return true;
		case 'f':
			Take(text, ref at, "false");
			return false;
		case 'n':
			Take(text, ref at, "null");
			return null;
		default:
			return Number(text, ref at);
		}
	}

	static Dictionary<string, object> Members(string text, ref int at, int depth)
	{
		var members = new Dictionary<string, object>();
		at++;
		if (Next(text, ref at) == '}') {
			at++;
			return members;
		}
		for (;;) {
			if (Next(text, ref at) != '"')
				throw new FormatException("no key");
			string key = Text(text, ref at);
			Next(text, ref at);
			Take(text, ref at, ":");
			if (members.ContainsKey(key))
				throw new FormatException("a key stands twice");
			members[key] = Value(text, ref at, depth + 1);
			if (Ends(text, ref at, '}'))
				return members;
		}
	}

	static List<object> Elements(string text, ref int at, int depth)
	{
		var elements = new List<object>();
		at++;
		if (Next(text, ref at) == ']') {
			at++;
			return elements;
		}
		do
			elements.Add(Value(text, ref at, depth + 1));
		while (!Ends(text, ref at, ']'));
		return elements;
	}

	static bool Ends(string text, ref int at, char bracket)
	{
		char next = Next(text, ref at);
		if (next != ',' && next != bracket)
			throw new FormatException("neither a comma nor the end");
		at++;
		return next == bracket;
	}

	static string Text(string text, ref int at)
	{
		var said = new StringBuilder();
		for (at++; at < text.Length && text[at] != '"'; at++) {
			if (text[at] < ' ')
				throw new FormatException("a control character in a text");
			if (text[at] != '\\')
				said.Append(text[at]);
			else
				said.Append(Escape(text, ref at));
		}
		if (at++ >= text.Length)
			throw new FormatException("a text without an end");
		return said.ToString();
	}

	static char Escape(string text, ref int at)
	{
		const string names = "\"\\/bfnrt", values = "\"\\/\b\f\n\r\t";
		at++;
		int which = at < text.Length ? names.IndexOf(text[at]) : -1;
		if (which >= 0)
			return values[which];
		ushort unit = 0;
		if (at + 4 >= text.Length || text[at] != 'u' ||
		    !ushort.TryParse(text.Substring(at + 1, 4), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out unit))
			throw new FormatException("no escape");
		at += 4;
		return (char)unit;
	}

	static object Number(string text, ref int at)
	{
		int begin = at;
		while (at < text.Length && "+-0123456789.eE".IndexOf(text[at]) >= 0)
			at++;
		string digits = text.Substring(begin, at - begin);
		long whole = 0;
		double real = 0;
		if (long.TryParse(digits, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out whole))
			return whole;
		if (double.TryParse(digits, NumberStyles.Float, CultureInfo.InvariantCulture, out real))
			return real;
		throw new FormatException("no value");
	}
}
