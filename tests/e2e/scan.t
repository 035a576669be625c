#!/usr/bin/python3
"""scan tells what is found with its line and a caret, and its exit code says whether the gate holds: 0, 1, and 125 where there was no scan."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *
from scans import *

PROGRAM = b"import os as o\n\n\ndef f(x):\n\treturn eval(x), '\xc3\xa4', o.system('ls')\n"

run = scan_text({"src/a.py": PROGRAM, "data.csv": b"1,2\n"})
is_(run.code, 1, "a finding of the gate's severity makes the exit code 1", run)
lines = run.out.decode().split("\n")
is_(lines[0], "src/a.py:5:9: error python.dynamic-code: runs text or bytes as code: eval", "path, line, column, severity, id, message and name")
is_(lines[1], "      5 |  return eval(x), 'ä', o.system('ls')", "the line stands below")
is_(lines[2], "        |         ^~~~~~~", "and a caret below the place")
like(lines[3], r"^        = \S", "and what it means for a sandbox")
is_(lines[4], "src/a.py:5:23: warning python.process: starts a process: os.system", "an import under another name is seen through; columns are characters")
is_(lines[6].index("^"), lines[5].index("o.system"), "the caret is below it behind a letter of two bytes")
is_(lines[-2], "2 files: 1 error, 1 warning, 0 notes; gate error: stop", "what it comes to")

for gate, code in ("error", 1), ("warning", 1), ("note", 1), ("none", 0):
    is_(scan_text({"a.py": PROGRAM}, "--gate", gate).code, code, f"--gate {gate}: exit code {code}")
for gate, code in ("error", 0), ("warning", 1), ("note", 1):
    is_(scan_text({"a.py": b"import os\nos.system('x')\n"}, "--gate", gate).code, code, f"a warning, --gate {gate}: exit code {code}")
clean = scan_text({"a.py": b"print(6 * 7)\n", "b.c": b"int main(void) { return 0; }\n"}, "--gate", "note")
is_((clean.code, clean.out), (0, b"2 files: 0 errors, 0 warnings, 0 notes; gate note: go\n"), "nothing found: 0")

one = scan_text(os.path.join(tree({"deep/x.sh": b"eval \"$1\"\n"}), "deep/x.sh"))
like(one.out, rb"^x.sh:1:1: error shell.dynamic-code", "a single file is scanned by its name")

for what, words, why in (
        ("no PATH", [], rb"a word is missing; usage: pinfold scan \[OPTION...\] PATH"), ("two paths", ["a", "b"], rb"unexpected \"b\""), ("a PATH that is not there", [os.path.join(tmpdir(), "none")], rb"open /.*/none: No such file"),
        ("an unknown option", ["--what", "."], rb"unknown option --what"), ("a format that is none", ["--format", "xml", "."], rb"text or sarif"),
        ("a gate that is none", ["--gate", "high", "."], rb"error, warning, note or none"), ("an option without its value", ["--gate"], rb"a value is missing"),
        ("a device", ["/dev/null"], rb"neither a folder nor a file"), ("no time", ["--limit-time", "0s", "."], rb"--limit-time"),
        ("waivers that are not there", ["--waive", os.path.join(tmpdir(), "none"), "."], rb"--waive")):
    run = pinfold("scan", *words)
    is_((run.code, run.out), (125, b""), f"{what}: 125, and nothing on stdout", run)
    like(run.err, why, f"{what}: why")

helped = pinfold("scan", "--help")
is_(helped.code, 0, "--help")
for word in (b"--format", b"--gate", b"--waive", b"--rules", b"--merge", b"--limit-time", b"--propose"):
    ok(word in helped.out, f"--help has {word.decode()}")
is_(pinfold("help", "scan").out, helped.out, "`pinfold help scan` is the same")

# Without a jail nothing is read, and that is no finding.
where = tree({"a.py": PROGRAM})
with start("-r", "sh", "-c", 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"', "sh", program_path(), "scan", where, program="/usr/bin/unshare") as running:
    none = running.wait()
is_((none.code, none.out), (125, b""), "no jail to be had: 125", none)
like(none.err, rb"^pinfold: scan: jail: .*doctor", "and what is in the way")

full = os.open("/dev/full", os.O_WRONLY)
is_(scan_text({"a.py": PROGRAM}, stdout=full).code, 125, "findings that could not be written are a failure")
os.close(full)
is_(scan_text({"a.py": PROGRAM}, env={"TERM": "xterm"}).out.count(b"\033"), 0, "no colour but on a terminal")
done()
