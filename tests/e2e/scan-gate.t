#!/usr/bin/python3
"""A waiver lets one id in one path through the gate, with its reason; which were used and which were not is on record."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *
from scans import *

FILES = {"src/a.py": b"eval(x)\n", "src/b.py": b"eval(y)\nimport ctypes\nctypes.CDLL(None)\n"}
WHERE = tree(FILES)


def waived(rows, *options, text=False):
    path = os.path.join(tmpdir(), "waivers.json")
    with open(path, "wb") as file:
        file.write(rows if isinstance(rows, bytes) else json.dumps(rows).encode())
    return (scan_text if text else scan)(WHERE, "--waive", path, *options)


def waiver(id, path, reason="looked at by hand"):
    return {"id": id, "path": path, "reason": reason}


control = scan(WHERE)
is_((control.code, len(control.found)), (1, 3), "control: three findings stop it", control)
run = waived([waiver("python.dynamic-code", "src/a.py"), waiver("python.dynamic-code", "src/b.py")])
is_((run.code, len(run.found)), (1, 3), "one is left: it stops, and all three are told", run)
run = waived([waiver("python.dynamic-code", "src/*.py", "a calculator"), waiver("python.ffi", "src/b.py"), waiver("python.ffi", "src/a.py", "never used")])
is_(run.code, 0, "all are waived: it goes on", run)
texts = {(r["ruleId"], r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]): r["suppressions"] for r in results(run.sarif)}
is_(texts["python.dynamic-code", "src/a.py"], [{"kind": "external", "status": "accepted", "justification": "a calculator"}], "the reason is on record")
properties = run.sarif["runs"][0]["properties"]
is_([row["used"] for row in properties["pinfold/waivers"]], [2, 1, 0], "how often each was used, and that one was not")
is_((properties["pinfold/gate"], properties["pinfold/stop"]), ("error", False), "the gate and what it said")
run = waived([waiver("python.ffi", "src/a.py")], text=True)
ok(b"unused waiver: python.ffi in src/a.py\n" in run.out, "an unused waiver is told", run)
run = waived([waiver("python.dynamic-code", "src/*.py", "a\x1b[31m calculator")], text=True)
ok(b"= waived: a\\x1b[31m calculator" in run.out, "a reason stands below what it waives, escaped", run)

for what, rows in (("another file", [waiver("python.dynamic-code", "a.py")]), ("another id", [waiver("python", "src/a.py")]),
                   ("a '*' passes no '/'", [waiver("python.dynamic-code", "*.py")]), ("the start of an id", [waiver("python.dyn*", "src/a.py")])):
    run = waived(rows)
    is_((run.code, run.sarif["runs"][0]["properties"]["pinfold/waivers"][0]["used"]), (1, 0), f"{what}: waives nothing", run)
for what, rows, why in (
        ("no reason", [{"id": "a", "path": "b"}], rb"members|reason"), ("an empty reason", [waiver("a", "b", "")], rb"\"reason\""), ("a reason of blanks", [waiver("a", "b", " \n")], rb"says nothing"),
        ("a number", [{"id": 1, "path": "b", "reason": "c"}], rb"\"id\""), ("one more member", [{**waiver("a", "b"), "x": 1}], rb"other members"), ("no array", {}, rb"are an array"),
        ("no JSON", b"[{", rb"line 1"), ("a key twice", b'[{"id": "a", "id": "b", "path": "c", "reason": "d"}]', rb"key that is there already"),
        ("too many", [waiver("a", "b")] * 1001, rb"more than 1000")):
    run = waived(rows)
    is_((run.code, run.out), (125, b""), f"{what}: refused", run)
    like(run.err, why, f"{what}: why")
# Findings that were dropped may have been the worst.
many = tree({f"{i:02}.sh": b"cp a /b\n" * 1990 for i in range(11)})
run = scan(many)
is_((run.code, len(run.found), ("", 0, "scan.too-many") in run.found), (1, 20000, True), "more findings than are kept: that is one, and it stops the gate")
is_(scan(tree({"a.sh": b"cp a /b\n" * 1990})).code, 0, "control: those themselves are warnings")
done()
