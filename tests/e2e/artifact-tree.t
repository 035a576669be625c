#!/usr/bin/python3
"""An artifact of type tree comes out whole, with its modes and the links that stay in it, under a digest of all of it; or not at all."""
import hashlib
import os
import stat
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *


def collect(rules, script):
    out = os.path.join(tmpdir(), "out")
    flags = [word for rule in rules for word in ("--artifact", rule)]
    run = pinfold("run", *flags, "--artifacts-dir", out, "@host", "sh", "-c", script)
    return run, {row["path"]: row for row in run.result["artifacts"]}, out


def tree(top):
    """{path: (mode, content)} of all that is there; a link's content is its target, a folder's None."""
    found = {}
    for folder, names, files in os.walk(top):
        for name in names + files:
            path = os.path.join(folder, name)
            st = os.lstat(path)
            if stat.S_ISLNK(st.st_mode):
                found[os.path.relpath(path, top)] = ("l", os.readlink(path))
            elif stat.S_ISDIR(st.st_mode):
                found[os.path.relpath(path, top)] = (stat.S_IMODE(st.st_mode), None)
            else:
                with open(path, "rb") as file:
                    found[os.path.relpath(path, top)] = (stat.S_IMODE(st.st_mode), file.read())
    return found


run, rows, out = collect(["t:type=tree:required"],
                         "mkdir -p t/a/b t/z; printf hi > t/a/b/f; chmod 755 t t/a t/a/b t/a/b/f; printf g > t/g; chmod 640 t/g; ln -s a/b/f t/l; "
                         "ln -s ../../g t/a/b/up; chmod 4777 t/z; : > t/z/s; chmod 6733 t/z/s")
is_(tree(os.path.join(out, "+t")), {"a": (0o755, None), "a/b": (0o755, None), "a/b/f": (0o755, b"hi"), "g": (0o640, b"g"), "l": ("l", "a/b/f"),
                                    "a/b/up": ("l", "../../g"), "z": (0o755, None), "z/s": (0o711, b"")},
    "folders, files, links inside; modes without set-id bits, and for nobody else to write to", run)
row = rows["t"]
is_((row["status"], row["file"], row["size"], row["type"], run.result["ok"], run.result["warnings"]), ("kept", "+t", 3, "tree", True, []), "one row", run)
sha = {text: hashlib.sha256(text).hexdigest() for text in (b"", b"hi", b"g")}
LISTING = ("d 755 \0" "d 755 a\0" "d 755 b\0" f"f 755 2 {sha[b'hi']} f\0" "l up\0../../g\0" "u\0" "u\0" f"f 640 1 {sha[b'g']} g\0" "l l\0a/b/f\0"
           "d 755 z\0" f"f 711 0 {sha[b'']} s\0" "u\0" "u\0")
is_(row["sha256"], hashlib.sha256(LISTING.encode()).hexdigest(), "its digest is that of the listing", run)

run, rows, out = collect(["one:type=tree", "one:max=3", "none:type=tree:required"], "printf abc > one; chmod 751 one")
path = os.path.join(out, "+one")
is_((open(path, "rb").read(), stat.S_IMODE(os.stat(path).st_mode)), (b"abc", 0o751), "a file is a tree of one", run)
is_((sorted(os.listdir(out)), rows["none"]["status"], run.result["ok"]), (["+one", "one"], "rejected", False), "beside the artifact of that path; a missing one is missing", run)
is_(rows["none"]["reason"], "nothing of that name is there", "and says so", run)

# ---- what is not part of it ----
LEAVES = ["ln -s / t/x", "ln -s ../x t/x", "ln -s ../../x t/a/x", "ln -s a/../../x t/x", "ln -s a/.. t/x", "ln -s /t/a t/x", "mkfifo t/x",
          "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"t/x\")'"]
for make in LEAVES:
    run, rows, out = collect(["t:type=tree"], f"mkdir -p t/a; : > t/kept; {make}")
    is_((set(tree(os.path.join(out, "+t"))), rows["t"]["status"]), ({"a", "kept"}, "kept"), f"left out: {make}", run)
    ok(len(run.result["warnings"]) == 1 and "the first is x" in run.result["warnings"][0], "which a warning tells", run)
run, rows, out = collect(["t:type=tree"], "mkdir real; : > real/x; ln -s real t")
is_((rows["t"]["status"], rows["t"]["reason"], os.listdir(out)), ("rejected", "it is a symbolic link, which is not followed", []), "a tree that is a link itself", run)
run, rows, out = collect(["t:type=tree"], "mkdir -p t/in; printf x > t/in/f; chmod 0 t/in/f t/in t")
is_({path: content for path, (_, content) in tree(os.path.join(out, "+t")).items()}, {"in": None, "in/f": b"x"}, "what has no permissions comes too, and can be read", run)

# ---- whole or not at all ----
for rules, script, why in ((["t:type=tree:max=9"], "mkdir t; printf 12345 > t/a; printf 12345 > t/b", "larger than its max"),
                           (["t:type=tree:files=3"], "mkdir t; : > t/a; : > t/b; : > t/c", "more entries"),
                           (["t:type=tree:files=3"], "mkdir -p t/a; : > t/a/b; : > t/c", "more entries"),
                           (["t:type=tree"], "mkdir t; truncate -s 9223372036854775807 t/a", "larger than its max"),
                           (["t:type=tree"], "p=t; for i in $(seq 128); do p=$p/d; done; mkdir -p $p", "nested deeper"),
                           (["f:type=tree:max=2"], "printf 123 > f", "larger than its max")):
    run, rows, out = collect(rules, script)
    row = next(iter(rows.values()))
    is_((row["status"], row["file"], os.listdir(out)), ("rejected", None, []), f"nothing is kept of {script[:40]}", run)
    like(row["reason"], why, "and why")
run, rows, out = collect(["t:type=tree:max=10:files=3"], "mkdir t; printf 12345 > t/a; printf 12345 > t/b")
is_(rows["t"]["status"], "kept", "the bounds themselves fit", run)
run, rows, out = collect(["t:type=tree"], "p=t; for i in $(seq 127); do p=$p/d; done; mkdir -p $p; : > $p/f")
ok(rows["t"]["status"] == "kept" and run.result["ok"], "and a depth of 128", run)
run, rows, out = collect(["/".join(["*"] * 64) + ":type=tree:required"], f"i=0; while [ $i -lt {63 + 128} ]; do mkdir d; cd d; i=$((i+1)); done; echo x > leaf")
ok([row["status"] for row in rows.values()] == ["kept"] and run.result["ok"], "also below 64 components that are patterns", run)
run, rows, out = collect(["t:type=tree"], "mkdir t; cd t; python3 -c \"[open(b'%c' % c, 'w') for c in range(1, 256) if c not in b'./']\"")
is_(len(os.listdir(os.path.join(out, "+t").encode())), 253, "names of any bytes", run)
run, rows, out = collect(["*:type=tree"], "d=x$(printf '%050d' 0 | sed s/0/ü/g); mkdir $d; mkfifo $d/$d")
ok([isinstance(text, str) and "ü" in text for text in run.result["warnings"]] == [True], "a long name is cut between its characters where a warning tells it", run)
run, rows, out = collect(["t:type=tree"], "mkdir t; printf x > t/a; kill -9 $$")
is_((rows["t"]["status"], os.listdir(out)), ("partial", ["+t"]), "what a run left that did not end by itself is partial", run)

run = pinfold("run", "--artifact", "t:files=3", "--artifacts-dir", tmpdir(), "@host", "true")
like(run.message, "files= is for type=tree", "files= without a tree is refused")
for wrong in ("0", "200001", "none", "x"):
    run = pinfold("run", "--artifact", f"t:type=tree:files={wrong}", "--artifacts-dir", tmpdir(), "@host", "true")
    is_(run.status, "refused", f"files={wrong} is refused", run)
done()
