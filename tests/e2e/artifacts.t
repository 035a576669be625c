#!/usr/bin/python3
"""Artifacts: what was declared comes out when everything is dead, complete, hashed, under a safe name; everything else
is listed with its reason; a missing required one makes ok false; a run that was ended leaves partial ones."""
import hashlib
import json
import os
import signal
import stat
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

MIB = 1 << 20


def collect(rules, script, options=(), events=False, image="@host", out=None):
    """The Run, its rows by path, and the folder."""
    out = out or os.path.join(tmpdir(), "out")
    flags = [word for rule in rules for word in ("--artifact", rule)]
    run = pinfold("run", *options, *flags, "--artifacts-dir", out, image, "sh", "-c", script, events=events)
    return run, {row["path"]: row for row in run.result["artifacts"]}, out


def content(out, row):
    with open(os.path.join(out, row["file"]), "rb") as file:
        return file.read()


run, rows, out = collect(["out/*.txt:required", "data/[a-c]?.bin", "one"], "mkdir out data; echo 1 > out/a.txt; echo 22 > out/b.txt; echo n > out/c.dat; "
                         "printf x > data/a1.bin; printf y > data/d1.bin; echo hidden > out/.h.txt; echo o > one; echo two > two", events=True)
is_({path: (row["status"], row["file"], row["size"]) for path, row in rows.items()},
    {"out/a.txt": ("kept", "out+a.txt", 2), "out/b.txt": ("kept", "out+b.txt", 3), "data/a1.bin": ("kept", "data+a1.bin", 1), "one": ("kept", "one", 2)},
    "literal names and patterns, and nothing else", run)
is_(sorted(os.listdir(out)), ["data+a1.bin", "one", "out+a.txt", "out+b.txt"], "the folder has those files alone")
is_([content(out, rows[path]) for path in ("out/a.txt", "out/b.txt", "one")], [b"1\n", b"22\n", b"o\n"], "with their contents")
is_(rows["out/b.txt"]["sha256"], hashlib.sha256(b"22\n").hexdigest(), "and digests")
ok(all(stat.S_IMODE(os.stat(os.path.join(out, name)).st_mode) == 0o600 for name in os.listdir(out)) and
   stat.S_IMODE(os.stat(out).st_mode) == 0o700, "files of mode 0600 in a folder of 0700")
ok(run.result["ok"] and run.code == 0, "ok", run)
events = [event for event in run.events if event["event"] == "artifact"]
is_(len(events), 4, "an event for each")

run, rows, out = collect(["none:required", "other"], "echo x > else")
is_((run.result["ok"], run.status, run.code, rows["none"]["status"], rows["none"]["required"], rows["other"]["required"]),
    (False, "exited", 0, "rejected", True, False), "a missing required one: ok is false, the exit code is the program's", run)
ok("nothing of that name" in rows["none"]["reason"] and "required artifact" in run.message, "and why", run)
run, rows, _ = collect(["*:required"], "echo x > a; mkdir b")
is_((run.result["ok"], rows["a"]["status"], rows["b"]["status"]), (False, "kept", "rejected"), "what a required pattern names must all be kept", run)
run, rows, _ = collect(["a", "*:required"], "echo x > a")
is_((run.result["ok"], len(run.result["artifacts"])), (True, 1), "a file that two rules name is kept once, and counts for both", run)

run, rows, _ = collect(["*", "a:type=json:required"], "echo no > a")
is_((run.result["ok"], [(row["type"], row["status"], row["reason"]) for row in run.result["artifacts"]]),
    (False, [("any", "kept", None), ("json", "rejected", "it was kept by a rule before this one, which asks for less")]),
    "a file that was kept without a look is not what a later rule requires", run)
run, rows, _ = collect(["*", "a:max=2:required"], "echo long > a")
ok(not run.result["ok"], "nor one that is larger than that one's max", run)
run, rows, _ = collect(["a:max=9", "a:type=any:max=8:required"], "echo short > a")
ok(run.result["ok"], "one that asks for no more has it too", run)
run, rows, _ = collect(["a:max=2", "*", "a:required"], "echo long > a")
is_((run.result["ok"], [row["status"] for row in run.result["artifacts"]]), (True, ["rejected", "kept"]), "what one rule rejected and another kept is kept for the third", run)
run, rows, _ = collect(["*.json:type=json", "*", "z:required"], "i=0; while [ $i -lt 600 ]; do echo no > $i.json; i=$((i+1)); done; echo z > z")
is_((run.result["ok"], rows["z"]["status"], run.result["warnings"]), (True, "kept", []), "600 that are rejected, and that another rule names too: what is behind them comes", run)

# Each pattern looks at the 1000 names of d: the last one is cut within, and what is behind it is not looked for.
run, rows, _ = collect([*(f"d/*none{n}" for n in range(199)), "d/f*:required", "late"], "mkdir d; i=0; while [ $i -lt 1000 ]; do : > d/f$i; i=$((i+1)); done; echo x > late")
states = [row["status"] for path, row in rows.items() if path.startswith("d/f")]
is_((0 < states.count("kept") < 1000, run.result["ok"]), (True, False), "a required pattern that was not looked at to its end is not kept whole", str(run)[:1000])
is_(rows["late"]["reason"], "it was not looked for, as more than 200000 names were before", "and what was not looked for is not told as missing")

# ---- permissions, holes, sizes ----
run, rows, out = collect(["closed/in/file", "zero"], "mkdir -p closed/in; echo deep > closed/in/file; echo z > zero; chmod 0 zero closed/in/file closed/in closed")
is_({path: content(out, row) for path, row in rows.items() if row["file"]}, {"closed/in/file": b"deep\n", "zero": b"z\n"}, "files and folders of mode 0", run)
run, rows, out = collect(["sparse:max=64M"], f"truncate -s 48M sparse; printf end | dd of=sparse bs=1 seek={24 * MIB} conv=notrunc 2>/dev/null")
row = rows["sparse"]
want = hashlib.sha256(bytes(24 * MIB) + b"end" + bytes(24 * MIB - 3)).hexdigest()
is_((row["status"], row["size"], row["sha256"]), ("kept", 48 * MIB, want), "a sparse file has its apparent size and its digest", run)
within(os.stat(os.path.join(out, "sparse")).st_blocks * 512, 1, MIB, "and stays sparse")
run, rows, out = collect(["huge", "edge:max=4", "over:max=4", "empty:max=0"], "truncate -s 9223372036854775807 huge; printf 1234 > edge; printf 12345 > over; : > empty")
is_({path: (row["status"], row["size"]) for path, row in rows.items()},
    {"huge": ("rejected", 2**63 - 1), "edge": ("kept", 4), "over": ("rejected", 5), "empty": ("kept", 0)}, "caps by apparent size", run)
ok("larger than its max" in rows["huge"]["reason"], "with the reason")
run, rows, out = collect(["a", "b"], "echo same > a; ln a b")
is_([row["status"] for row in rows.values()], ["kept", "kept"], "hard links inside the scratch are files", run)

# ---- runs that are ended ----
for name, options, script, status in (
        ("a timeout", ["--wall", "1s"], "echo half > part; while :; do :; done", "wall-timeout"),
        ("an output limit", ["--output", "1K"], "echo half > part; yes", "output-limit"),
        ("memory", ["--memory", "32M", "--scratch", "16M"], "echo half > part; exec python3 -c 'import time; x = bytearray(400 << 20); time.sleep(600)'", "oom"),
        ("a signal", [], "echo half > part; kill -9 $$", "signaled")):
    run, rows, out = collect(["part:required"], script, options)
    is_((run.status, rows["part"]["status"], content(out, rows["part"]), run.result["ok"]), (status, "partial", b"half\n", False), f"after {name}: partial", run)
run, rows, out = collect(["part"], "echo x > part; exit 7")
is_((rows["part"]["status"], run.code, run.result["ok"]), ("kept", 7, False), "a failure is an end too", run)
run = pinfold("run", "--artifact", "a:required", "--artifacts-dir", os.path.join(tmpdir(), "o"), tiny(), "/bin/none")
is_((run.status, run.result["artifacts"]), ("exec-failed", []), "nothing is collected where nothing ran", run)

# A signal that means nothing to us does not end the collection; one that ends us does, with what there is.
with start("run", "--artifact", "*", "--artifacts-dir", os.path.join(tmpdir(), "o"), "@host", "sh", "-c",
           "i=0; while [ $i -lt 300 ]; do echo $i > f$i; i=$((i+1)); done", events=True) as running:
    wait_for(lambda: os.path.exists(running.events_file) and b'"collect"' in open(running.events_file, "rb").read(), what="the collection")
    for _ in range(20):
        running.signal(signal.SIGWINCH)
        running.signal(signal.SIGUSR1)
    run = running.wait()
is_((len([row for row in run.result["artifacts"] if row["status"] == "kept"]), run.result["warnings"]), (300, []), "signals that mean nothing change nothing", run)

# ---- the folder ----
out = tmpdir()
for name in ("taken", "link"):
    if name == "taken":
        with open(os.path.join(out, name), "w", encoding="ascii") as file:
            file.write("old")
    else:
        os.symlink("/tmp/pinfold-must-not-be-there", os.path.join(out, name))
run, rows, _ = collect(["taken", "link", "new"], "echo n > taken; echo n > link; echo n > new", out=out)
is_([rows[name]["status"] for name in ("taken", "link", "new")], ["rejected", "rejected", "kept"], "what is there already stays", run)
is_((open(os.path.join(out, "taken"), encoding="ascii").read(), os.path.lexists("/tmp/pinfold-must-not-be-there")), ("old", False), "as it was, and no link is followed")
run = pinfold("run", "--artifact", "a", "--artifacts-dir", "/nowhere/out", tiny(), "/bin/payload", "exit", "0")
ok(run.status == "refused" and "/nowhere/out" in run.message, "a folder that cannot be made refuses the run", run)
run = pinfold("run", "--artifact", "a", tiny(), "/bin/payload", "exit", "0")
ok(run.status == "refused" and "artifacts-dir" in run.message, "as does none", run)
fresh = os.path.join(tmpdir(), "fresh")
run = pinfold("explain", "--artifact", "a", "--artifacts-dir", fresh, tiny(), "/bin/payload")
is_((run.code, os.path.exists(fresh)), (0, False), "explain makes no folder", run)
run, rows, _ = collect(["result.json"], "echo mine > result.json")
ok(rows["result.json"]["status"] == "rejected" and "a document of this run" in rows["result.json"]["reason"], "the name of the result is not to be had", run)
both = tmpdir()
log = os.path.join(both, "log")
with start("run", "--audit", log, "--artifact", "log", "--artifacts-dir", both, "--stdin", "-", "@host", "sh", "-c", "echo forged > log; echo ready; read x", stdin=subprocess.PIPE) as running:
    running.line()
    os.rename(log, log + ".1")
    run = running.wait(stdin=b"\n")
is_(([row["reason"] for row in run.result["artifacts"]], b"forged" in open(log, "rb").read()), (["a document of this run has that name"], False),
    "nor is that of the audit log, though rotation gave it away", run)

# T41: thousands of rules
spec = os.path.join(tmpdir(), "spec.json")
with open(spec, "w", encoding="ascii") as file:
    json.dump({"artifacts": {"collect": [f"a{n}" for n in range(20000)], "dir": fresh}}, file)
run = pinfold("run", "--spec", spec, "@host", "sh", "-c", "echo x > a0; echo y > a19999")
kept = [row["path"] for row in run.result["artifacts"] if row["status"] == "kept"]
is_((kept, len(run.result["artifacts"]), run.result["artifacts_more"]), (["a0", "a19999"], 514, 20000 - 514), "20,000 rules: the list is bounded, what is kept is in it")
subprocess.run(["rm", "-rf", fresh], check=True)
done()
