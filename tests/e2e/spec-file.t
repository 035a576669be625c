#!/usr/bin/python3
"""--spec FILE says in JSON what flags say, a flag overrides it whatever the order, and every mistake in it is refused with
file, line and column."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

folder = tmpdir()
path = os.path.join(folder, "spec.json")


def write(text):
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    return path


def run_spec(document, *args, **options):
    return pinfold("run", "--spec", write(document if isinstance(document, (str, bytes)) else json.dumps(document)), *args, **options)


good = {"image": tiny(), "command": ["/bin/payload", "rlimits", ",", "uname", ",", "env", ",", "exit", "3"], "nofile": 77, "hostname": "from-spec",
        "env": ["A=1", "B=2"], "wall": "30s", "memory": "64M", "cpus": 0.5, "stdin": None}
run = run_spec(good)
is_((run.status, run.code), ("exited", 3), "a whole spec", run)
for pattern in r"^nofile 77 77$", r"^node from-spec$", r"^A=1$", r"^B=2$":
    like(run.out.decode(), pattern, f"it has its effect: {pattern}")
is_([run.guarantee(n)["requested"] for n in ("wall", "memory", "cpus")], ["30s", "64M", "0.5"], "and stands in the ledger")
digest = run.result["spec_sha256"]
by_flags = pinfold("run", "--nofile", "77", "--hostname", "from-spec", "--env", "A=1", "--env", "B=2", "--wall", "30s", "--memory", "64M",
                   "--cpus", "0.5", "--stdin", "null", tiny(), *good["command"])
is_(by_flags.out, run.out, "flags say the same")
for before, after in (["--hostname", "from-flag"], []), ([], ["--hostname", "from-flag"]):
    write(json.dumps({k: v for k, v in good.items() if k not in ("image", "command")}))
    run = pinfold("run", *before, "--spec", path, *after, tiny(), "/bin/payload", "uname")
    like(run.out.decode(), r"^node from-flag$", "a flag overrides it, " + ("before" if before else "behind"))
run = run_spec(good, tiny(), "/bin/payload", "exit", "5")
is_(run.code, 5, "image and command of the words override those of the spec", run)
run = pinfold("run", "--spec", "-", stdin=json.dumps(good).encode())
is_(run.code, 3, "--spec - reads it from stdin", run)

image = json.dumps(tiny())
BAD = {
    "an unknown key": ('{"image": IMAGE, "command": ["x"],\n "memroy": "1M"}', r":2:2: unknown key 'memroy'; did you mean \"memory\""),
    "a key twice": ('{"wall": "1s",\n  "image": IMAGE, "wall": "2s"}', r":2:\d+: .*(twice|duplicate)"),
    "a wrong type": ('{"wall": true}', r":1:10: wall: "),
    "a number as a time": ('{"wall": 10}', r":1:10: wall: "),
    "a wrong unit": ('{\n\n  "memory": "64MB"}', r":3:13: memory: .*64M"),
    "an element of a wrong type": ('{"command": ["x", 1]}', r":1:19: command: "),
    "a bad variable": ('{"env": ["A=1",\n "=2"]}', r":2:2: env: "),
    "no object": ("[1]", r":1:1: a spec is an object"),
    "nothing": ("", r":1:1: "),
    "half a document": ('{"wall": "1s"', r":1:\d+: "),
    "something behind it": ('{"wall": "1s"} x', r":1:\d+: "),
    "a comment": ('{"wall": "1s" /* no */}', r":1:\d+: "),
    "a comma too many": ('{"wall": "1s",}', r":1:\d+: "),
    "an invalid text": (b'{"hostname": "\xff"}', r":1:\d+: "),
    "a NUL": ('{"hostname": "a\\u0000b"}', r":1:\d+: "),
    "a lone surrogate": ('{"hostname": "\\ud800"}', r":1:\d+: "),
    "a number out of range": ('{"pids": 99999999999999999999}', r":1:\d+: "),
    "a fraction": ('{"pids": 1.5}', r":1:\d+: "),
    "not a number": ('{"cpus": NaN}', r":1:\d+: "),
    "deep nesting": ("[" * 100000, r":1:\d+: .*deep"),
    "null for a limit": ('{"memory": null}', r":1:12: memory: "),
    "a spec in a spec": ('{"spec": "x"}', r":1:2: unknown key"),
}
for name, (text, pattern) in BAD.items():
    text = text.replace("IMAGE", image) if isinstance(text, str) else text
    run = run_spec(text, tiny(), "/bin/payload", "echo", "ran")
    is_((run.status, run.code, run.out), ("refused", 125, b""), f"{name}: refused", run)
    like(run.message, rf"spec\.json{pattern}", f"{name}: file, line, column and reason")

# Where the result goes is known in spite of a mistake.
result = os.path.join(folder, "result.json")
run = pinfold("run", "--spec", write(json.dumps({"result": result, "id": "in-the-spec", "wall": "nonsense"})), tiny(), "x", result=False)
with open(result, encoding="utf-8") as file:
    document = json.load(file)
is_((run.code, document["status"], document["id"]), (125, "refused", "in-the-spec"), "result and id of a spec with a mistake are used")
for name in folder, os.path.join(folder, "missing"), "/dev/full":
    run = pinfold("run", "--spec", name, tiny(), "/bin/payload", "echo", "ran")
    is_((run.status, run.code, run.out), ("refused", 125, b""), f"--spec {os.path.basename(name)}: refused", run)
run = pinfold("run", "--spec", path, "--spec", path, tiny(), "/bin/payload", "echo", "ran")
is_((run.status, run.code, run.out), ("refused", 125, b""), "--spec twice: refused", run)
done()
