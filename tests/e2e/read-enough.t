#!/usr/bin/python3
"""Whoever stops reading what a command prints (`| head`) has read enough: nothing is said of it, the exit code is what it would
have been, and a command that reads a stream without an end ends. A full disk stays a failure (commands.t)."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *


def unread(*words, **options):
    """The command with a pipe for its stdout that nobody reads any more."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        return pinfold(*words, stdout=writer, result=False, **options)
    finally:
        os.close(writer)


folder = tmpdir()
log, result, source = (os.path.join(folder, name) for name in ("log", "result", "source"))
os.mkdir(source)
with open(os.path.join(source, "bad.py"), "w") as file:
    file.write("".join(f"eval(a{n})\n" for n in range(400)))
ran = pinfold("run", "--audit", log, tiny(), "/bin/payload", "exit", "3")
with open(result, "w") as file:
    json.dump(ran.result, file)
with open(log, "rb") as file:
    record = file.read()
with open(os.path.join(folder, "job.json"), "w") as file:
    json.dump({"source": {"folder": source}, "stages": [{"name": "run", "image": "@host", "command": ["true"]}]}, file)

for words, code in (["help"], 0), (["version"], 0), (["completion"], 0), (["ps", "--json"], 0), (["gc"], 0), (["run", "--help"], 0), \
        (["explain", tiny(), "/bin/payload"], 0), (["audit", log], 0), (["audit", "--json", log], 0), \
        (["report", result], 0), (["report", "--help"], 0), (["scan", source], 1), (["scan", "--format", "sarif", source], 1), \
        (["scan", "--gate", "none", source], 0), (["image", "--help"], 0), (["image", "list", "--json"], 0), (["job", "--help"], 0), \
        (["job", "plan", os.path.join(folder, "job.json")], 0):
    run = unread(*words, env={"PINFOLD_STORE": os.path.join(folder, "store")})
    is_((run.code, run.err), (code, b""), f"{' '.join(words[:2])}: not a word, and its own exit code", run)

refused = unread("explain", tiny(), "/bin/none-of-that-name")
is_(refused.code, 127, "a plan that nobody reads: what run could not start is told", refused)
like(refused.err.decode(), r"^pinfold: exec-failed in exec: /bin/none-of-that-name: not found in the image$", "and said, once")
bad = unread("audit", "-", stdin=record + b"nothing\n")
is_(bad.code, 125, "a line that is no record stays a failure", bad)

with subprocess.Popen(["yes", record.splitlines()[0]], stdout=subprocess.PIPE) as endless:
    run = unread("audit", "-", stdin=endless.stdout)
    endless.stdout.close()
    is_((run.code, run.err), (0, b""), "records without an end: audit ends when nobody reads them", run)
done()
