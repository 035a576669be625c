#!/usr/bin/python3
"""Trees that are made against a scanner: links and devices, names and lines for a terminal, archives that lead out or blow up, sources that make a parser explode."""
import io
import os
import socket
import sys
import tarfile
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *
from scans import *

EVAL = b"eval(x)\n"

# ---- what leads out of the tree ----

outside = tree({"secret.py": EVAL, "folder/more.py": EVAL})
os.chmod(outside, 0o755)
where = tree({"a.py": EVAL, "link.py": ("link", f"{outside}/secret.py"), "up.py": ("link", "../" * 20 + outside[1:] + "/secret.py"), "folder": ("link", f"{outside}/folder"),
              "in.py": ("link", "a.py"), "sub/in.py": ("link", "../a.py"), "loop": ("link", ".")})
is_(open(f"{where}/link.py", "rb").read(), EVAL, "control: who follows the link reads it")
run = scan(where)
is_(sorted(run.found), [("a.py", 1, "python.dynamic-code"), ("folder", 0, "tree.link-out"), ("link.py", 0, "tree.link-out"), ("up.py", 0, "tree.link-out")],
    "no link is followed; those that lead out are told", run)
by_link = os.path.join(tmpdir(), "link")
os.symlink(where, by_link)
is_(len(scan(by_link).found), 4, "a link that the caller names is the caller's")

where = tree({"z.py": EVAL})
os.mkfifo(f"{where}/fifo.py")
listener = socket.socket(socket.AF_UNIX)
listener.bind(f"{where}/socket.py")
try:
    os.close(os.open(f"{where}/fifo.py", os.O_WRONLY | os.O_NONBLOCK))
    blocked = False
except OSError:
    blocked = True
ok(blocked, "control: nobody reads from the FIFO, so that opening it would wait")
is_(scan(where).found, [("z.py", 1, "python.dynamic-code")], "a FIFO and a socket are passed over")
listener.close()

deep = tree({"/".join(["d"] * 80) + "/x.py": EVAL, "y.py": EVAL})
run = scan(deep)
is_(sorted(row[2] for row in run.found), ["python.dynamic-code", "scan.too-many"], "what is too deep is told, and the rest is read", run)
if os.geteuid() != 0 or WHO == "user":
    where = tree({"shut.py": EVAL, "open.py": EVAL})
    os.chmod(f"{where}/shut.py", 0)
    is_(sorted(scan(where).found), [("open.py", 1, "python.dynamic-code"), ("shut.py", 0, "scan.unreadable")], "what cannot be opened is told")
large = tree({"large.py": b"x = 1\n" * (1 << 20), "large.csv": b"1,2\n" * (2 << 20)})
is_(scan(large).found, [("large.py", 0, "scan.too-large")], "a source that is too large is told; data may be large")

# ---- for a terminal ----

NAME = "\x1b]0;owned\x07\u202egpj.py"
LINE = b"eval('\x1b[2J\x1b[1;1H\x9b5m\x08\x08\xe2\x80\xae\r')  # \x1b[?1049h\n"
where = tree({NAME: LINE})
ok(all(byte in open(f"{where}/{NAME}", "rb").read() for byte in (b"\x1b[2J", b"\x9b")), "control: the bytes are in the file")
run = scan_text(where)
is_((run.code, run.out.count(b"python.dynamic-code")), (1, 1), "it was found", run)
ok(not any(bad in run.out for bad in (b"\x1b", b"\x07", b"\x9b5", b"\x08", b"\r", "\u202e".encode())), "nothing of the name or of the line could drive a terminal", run)
ok(b"\\x1b[2J" in run.out and b"\\x1b]0;owned\\x07" in run.out, "both are there, escaped")
ok(not any(bad in run.err for bad in (b"\x1b", b"\x07")), "nor of what is on stderr")

# ---- archives ----


def tarred(*rows):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, kind, value in rows:
            info = tarfile.TarInfo(name)
            info.type = kind
            if kind == tarfile.REGTYPE:
                info.size = len(value)
                archive.addfile(info, io.BytesIO(value))
            else:
                info.linkname = value
                archive.addfile(info)
    return out.getvalue()


REG, SYM, HARD = tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE
evil = tarred(("../planted.py", REG, EVAL), ("ok/../../p2", REG, b""), ("../b\\c", REG, b""), ("/abs", REG, b""), ("s", SYM, "/etc"), ("d/s2", SYM, "../../x"), ("h", HARD, "../../h"), ("fine", SYM, "d/x"), ("d/e", SYM, "../fine"))
place = os.path.join(tmpdir(), "in")
os.mkdir(place)
with tarfile.open(fileobj=io.BytesIO(evil)) as archive:
    archive.extract("../planted.py", place, **({"filter": "fully_trusted"} if hasattr(tarfile, "fully_trusted_filter") else {}))
ok(os.path.exists(os.path.join(place, "../planted.py")), "control: who unpacks it writes outside")
run = scan({"a.tar": evil})
is_(sorted(run.found), sorted([("a.tar!/../planted.py", 0, "archive.path"), ("a.tar!/../planted.py", 1, "python.dynamic-code"), ("a.tar!/ok/../../p2", 0, "archive.path"), ("a.tar!/../b%5Cc", 0, "archive.path"), ("a.tar!//abs", 0, "archive.path"),
                               ("a.tar!/s", 0, "archive.link-out"), ("a.tar!/d/s2", 0, "archive.link-out"), ("a.tar!/h", 0, "archive.link-out")]), "names and links that lead out are told, and the rest is read", run)


def zipped(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


MEMBER = bytes(16 << 20)
bomb = zipped({f"m{i}.bin": MEMBER for i in range(17)})
with zipfile.ZipFile(io.BytesIO(bomb)) as archive:
    within(sum(one.file_size for one in archive.infolist()) // len(bomb), 100, 2000, "control: it is hundreds of times larger when it is unpacked")
run = scan({"bomb.zip": bomb, "z.py": EVAL})
is_([row[2] for row in run.found if row[0].startswith("bomb")], ["archive.bomb"], "an archive that blows up is told", run)
is_(run.found[-1], ("z.py", 1, "python.dynamic-code"), "and the scan goes on")
run = scan({"many.zip": zipped({f"f{i}": b"" for i in range(10001)}), "z.py": EVAL})
is_([row[2] for row in run.found], ["archive.bomb", "python.dynamic-code"], "so is one of too many members", run)
nest = EVAL
for i in range(8):
    nest = zipped({"x.py" if i == 0 else f"n{i}.zip": nest})
run = scan({"nest.zip": nest})
is_([row[2] for row in run.found], ["archive.bomb"], "so are archives in archives in archives", run)

# ---- sources that make a parser or a query explode ----

BOMBS = {
    "a-deep.py": b"(" * 500000, "b-list.py": b"x = " + b"[" * 200000 + b"]" * 200000, "c-chain.js": b"a" + b".b" * 200000 + b"()", "d-calls.js": b"f(" * 200000,
    "e-angles.cpp": b"a<" * 200000, "f-generic.cs": b"class A { List<" + b"List<" * 100000, "g-quotes.sh": b"\"$(" * 100000, "h-nul.java": bytes(500000), "i-else.c": b"if(1){}else " * 100000,
    "j-sum.py": b"eval(" + b"'a'+" * 100000 + b"'b')", "k-alias.py": b"".join(b"a%d = a%d\n" % (i + 1, i) for i in range(20000)) + b"a0 = a20000\na5()\n", "l-random.ts": bytes(range(256)) * 2000,
}
run = scan({**BOMBS, "z.py": EVAL}, "--limit-time", "3s", timeout=200)
is_(run.found[-1], ("z.py", 1, "python.dynamic-code"), "after each of them the scan goes on", run)
is_(run.code, 1, "and has an end")
seen = {row[0] for row in run.found}
diag("not read to their end: " + ", ".join(f"{row[0]} {row[2]}" for row in run.found if row[2].startswith("scan.")))
# A query of the caller's own that explodes: that of a pattern which matches any two of a thousand siblings.
HEADER = "; id: own.pairs\n; severity: note\n; message: two\n; sandbox: none\n"
rules = tree({"python/x.scm": HEADER + "((module (_)* (expression_statement) @a (_)* (expression_statement) @b (_)* (expression_statement) @c (_)* (expression_statement) @d) (#eq? @a @b))\n"})
small = scan({"a.py": b"a\na\na\na\n", "z.py": EVAL}, "--rules", rules)
ok(any(row[2] == "own.pairs" for row in small.found), "control: the pattern matches", small)
run = scan({"a.py": b"a\nb\nc\n" * 20000, "z.py": EVAL}, "--rules", rules, "--limit-time", "1s", timeout=200)
ok(all(row[2] in ("own.pairs", "scan.timeout", "scan.crashed", "scan.too-many") for row in run.found if row[0] == "a.py"), "it ends by a limit, or by itself", run)
is_(run.found[-1], ("z.py", 1, "python.dynamic-code"), "and the scan goes on")
done()
