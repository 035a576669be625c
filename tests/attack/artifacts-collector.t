#!/usr/bin/python3
"""A collector that was taken over (tests/collector/hostile.c) says what the sandbox's program wants. What makes sense is kept, which
is the control; what does not ends it there: what came before is kept with its own rows, nothing else is, and nothing half done stays."""
import hashlib
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

HOSTILE = staged(os.path.join(BUILD, "tests/collector-hostile"))
FILE, DATA, END, AGAIN, REJECT, CUT, TREE, FOLDER, LEAVE, TREE_FILE, LINK, OMIT, TREE_END, DONE = range(1, 15)
MISSING, LARGE, ALL_CAME = 0, 6, 16
FOLDER_MODE, FILE_MODE = 0o040755, 0o100644
LOST = "not all artifacts were collected: the collector ended early, or its time was over"


def record(kind, path=b"", text=b"", rule=0, reason=0, mode=0, size=0, offset=0, follows=b""):
    """As struct collect_record (transfer/collect.h)."""
    return struct.pack("<6I2Q", kind, rule, reason, len(path), mode, len(text), size, offset) + path + text + follows


def body(content, offset=0):
    return record(DATA, size=len(content), offset=offset, follows=content) + record(END)


def file(path, content=b"abc", rule=0):
    return record(FILE, path, size=len(content), rule=rule) + body(content).replace(
        struct.pack("<2I", DATA, 0), struct.pack("<2I", DATA, rule)).replace(struct.pack("<2I", END, 0), struct.pack("<2I", END, rule))


def in_tree(*entries, end=ALL_CAME, done=True):
    return record(TREE, b"t", mode=FOLDER_MODE) + b"".join(entries) + record(TREE_END, reason=end) + (record(DONE) if done else b"")


def entry(name, content):
    return record(TREE_FILE, name, mode=0o644, size=len(content)) + body(content)


def say(said, *rules):
    """What became of it: rows, names in the folder, warnings."""
    out = os.path.join(tmpdir(), "out")
    flags = [word for rule in rules for word in ("--artifact", rule)]
    run = pinfold("run", "--scratch", "64M", *flags, "--artifacts-dir", out, "--stdin", "-", "@host", "sh", "-c", "cat > say", stdin=said, program=HOSTILE)
    if run.code != 0 or not run.result:
        diag(repr(run))
    rows = [(row["path"], row["status"]) for row in run.result["artifacts"]]
    return rows, sorted(os.listdir(out)), run.result["warnings"], run, out


def refused(said, name, *rules, rows=(), stored=()):
    got = say(said, *rules)
    is_(got[:3], (list(rows), list(stored), [LOST]), name, got[3])
    return got[3]


# ---- controls: what makes sense is kept ----
large = bytes(range(256)) * 3000
rows, names, warnings, run, out = say(b"".join(file(b"f%d" % i, large[i:]) for i in range(6)) + record(REJECT, b"gone", reason=MISSING) + file(b"last") + record(DONE), "*")
is_(rows, [(f"f{i}", "kept") for i in range(6)] + [("gone", "rejected"), ("last", "kept")], "control: files become rows in their order", run)
is_([row.get("sha256") for row in run.result["artifacts"]][:6], [hashlib.sha256(large[i:]).hexdigest() for i in range(6)], "each with its own digest")
rows, names, warnings, run, out = say(file(b"f", large, rule=1) + in_tree(entry(b"a", large), record(FOLDER, b"b", mode=0o755), entry(b"c", b"x"), record(LEAVE),
                                                                         record(LINK, b"l", b"b/c"), done=False) + file(b"g", b"y", rule=1) + record(DONE),
                                      "t:type=tree", "*")
is_((rows, names, warnings), ([("f", "kept"), ("t", "kept"), ("g", "kept")], ["+t", "f", "g"], []), "control: and so does a tree between two of them", run)
is_([open(os.path.join(out, "+t", path), "rb").read() for path in ("a", "b/c", "l")], [large, b"x", b"x"], "with what is in it")
sha = {text: hashlib.sha256(text).hexdigest() for text in (large, b"x")}
listing = f"d 755 \0f 644 {len(large)} {sha[large]} a\0d 755 b\0f 644 1 {sha[b'x']} c\0u\0l l\0b/c\0u\0"
is_(run.result["artifacts"][1]["sha256"], hashlib.sha256(listing.encode()).hexdigest(), "under the digest of all of it")

# ---- files ----
for many in (1, 4, 5):
    good = [(f"f{i}", "kept") for i in range(many)]
    refused(b"".join(file(b"f%d" % i) for i in range(many)) + record(FILE, b"large", size=1 << 62),
            f"a file larger than its max, after {many}", "*", rows=good, stored=[name for name, _ in good])
refused(record(FILE, b"large", size=1 << 62), "and alone", "*")
refused(file(b"f") + record(FILE, b"", size=1) + body(b"x"), "a file without a name", "*", rows=[("f", "kept")], stored=["f"])
refused(record(FILE, b"f", size=2) + record(DATA, size=3, follows=b"abc"), "more than its size", "*", rows=[("f", "rejected")])
refused(record(FILE, b"f", size=9) + record(DATA, size=3, offset=3, follows=b"abc") + record(DATA, size=3, follows=b"abc"), "backwards", "*", rows=[("f", "rejected")])
refused(record(FILE, b"f", size=3) + record(DATA, size=3, follows=b"ab"), "less than was announced", "*", rows=[("f", "rejected")])
refused(record(DATA, size=3, follows=b"abc"), "data of no file", "*")
refused(file(b"f") + record(END), "an end of none", "*", rows=[("f", "kept")], stored=["f"])
refused(record(REJECT, b"f", reason=ALL_CAME), "a reason that is none", "*")
refused(record(REJECT, b"f", rule=7), "a rule that is none", "*")
refused(record(FILE, b"f\0g", size=0) + record(END), "a name with a NUL", "*")
refused(record(AGAIN, b"f"), "one again that never was", "*")
refused(record(99), "a record that is none", "*")
refused(b"", "nothing", "*")
refused(os.urandom(100000), "noise", "*")

# ---- trees ----
half = {"rows": [("t", "rejected")]}
for name, entries in {
        "a reason that is none": record(OMIT, b"x", reason=1 << 20),
        "a tree in a tree": record(TREE, b"t", mode=FOLDER_MODE),
        "a file that is not of the tree": file(b"f"),
        "a rejection within": record(REJECT, b"f", reason=LARGE),
        "the end of everything": record(DONE),
        "data of no file": record(DATA, size=1, follows=b"x"),
        "an entry larger than the max": record(TREE_FILE, b"x", size=1 << 62),
        "a name longer than names are": record(TREE_FILE, b"x" * 256),
        "a link to nothing": record(LINK, b"l"),
        "a file that is cut off": record(TREE_FILE, b"x", mode=0o644, size=300000) + record(DATA, size=300000, follows=b"x" * 140000),
}.items():
    refused(record(TREE, b"t", mode=FOLDER_MODE) + entry(b"a", large) + entries, name, "t:type=tree", **half)
refused(record(TREE, b"t", mode=FOLDER_MODE) + record(TREE_END, reason=99), "an end for a reason that is none", "t:type=tree", **half)
refused(record(TREE, b"t", mode=0o020644), "a device for a tree", "t:type=tree")
refused(record(TREE, b"t", mode=FOLDER_MODE, size=1), "a folder with bytes", "t:type=tree")
refused(record(TREE, b"t", mode=FOLDER_MODE) + record(TREE_END, reason=ALL_CAME), "a tree for a rule of files", "*")
refused(record(TREE, b"t", mode=FILE_MODE, size=3) + record(DATA, size=2, follows=b"ab"), "a tree of one file, cut off", "t:type=tree", **half)

# What only the tree itself cannot be: it is read to its end, and not kept.
for name, entries in {
        "..": record(FOLDER, b"..", mode=0o755) + record(LEAVE),
        "a path for a name": entry(b"../x", b"x"),
        "no order": entry(b"b", b"x") + entry(b"a", large),
        "one name twice": entry(b"a", b"x") + entry(b"a", b"x"),
        "a link that leads out": record(LINK, b"l", b"../x"),
        "a link to the host": record(LINK, b"l", b"/etc/passwd"),
        "more folders left than entered": record(LEAVE),
        "too deep": b"".join(record(FOLDER, b"d", mode=0o755) for _ in range(200)),
        "no end of a folder": record(FOLDER, b"d", mode=0o755),
        "one that the collector gave up": b"",
}.items():
    rows, names, warnings, run, _ = say(in_tree(entries, end=LARGE if not entries else ALL_CAME, done=False) + file(b"f", large, rule=1) + record(DONE), "t:type=tree", "*")
    is_((rows, names, warnings), ([("t", "rejected"), ("f", "kept")], ["f"], []), name, run)
    is_(run.result["artifacts"][1]["sha256"], sha[large], "the next one has its own digest")
done()
