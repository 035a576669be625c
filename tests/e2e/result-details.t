#!/usr/bin/python3
"""What pinfold-result(5) says of the smaller members: the exit of a program that a limit killed, the rows and the name of a run
that was refused early or late, whether the count of denied calls is complete, the stages, and the exit code of a cancelled run."""
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

PAYLOAD = [tiny(), "/bin/payload"]
NOBODY_SAW = {"code": None, "signal": None}

for status, args in ("wall-timeout", ["--wall", "200ms", *PAYLOAD, "sleep", "10"]), ("idle-timeout", ["--idle", "200ms", *PAYLOAD, "sleep", "10"]), \
        ("cpu-timeout", ["--cpu-time", "200ms", *PAYLOAD, "burn", "5"]), ("output-limit", ["--output", "10", *PAYLOAD, "spam", "stdout", "1M", ",", "sleep", "10"]):
    run = pinfold("run", *args)
    is_((run.status, run.result["exit"]), (status, NOBODY_SAW), f"{status}: killed as a whole, nobody saw the program's own end", run)

for name, args in ("bad usage", ["--bogus"]), ("no image", ["/etc", "true"]):
    run = pinfold("run", *args)
    is_((run.status, run.result["id"]), ("refused", None), f"{name}: no name yet", run)
    is_({g["state"] for g in run.result["guarantees"]}, {"absent"}, f"{name}: nothing is promised")
    is_(run.result["denied"], {"syscalls": [], "more": 0, "complete": False}, f"{name}: no filter was in force")
    is_(pinfold("run", "--id", "given", *args).result["id"], "given", f"{name}: a given name is there")
for name, args in ("no such workdir", ["--workdir", "/nope"]), ("no such stdin", ["--stdin", "/nope"]), ("a requirement", ["--require", "ids,memory"]):
    run = pinfold("run", *args, *PAYLOAD, "echo", "ran")
    if run.status == "exited":
        continue
    is_((run.status, run.out, run.result["exit"]), ("refused", b"", NOBODY_SAW), f"{name}: refused", run)
    states = {g["name"]: g["state"] for g in run.result["guarantees"]}
    is_(states["seccomp"], "enforced", f"{name}: the rows say what would have been", run)

run = pinfold("run", *PAYLOAD, "exit", "0", events=True)
is_([e["name"] for e in run.events if e["event"] == "stage"], ["setup", "kill", "drain"], "the stages", run)

# The signal in the code is the one that ended the program, else TERM.
for sent in signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT:
    for catches, code, ended in ("", 128 + sent, {"code": None, "signal": int(sent)}), ("exit 0", 143, {"code": 0, "signal": None}), \
            ("exit 7", 143, {"code": 7, "signal": None}), (":", 143, NOBODY_SAW):
        program = [busybox_image(), "/bin/sh", "-c", f"trap '{catches}' TERM INT HUP QUIT; echo ready; while :; do usleep 10000; done"] \
            if catches else [*PAYLOAD, "echo", "ready", ",", "sleep", "20"]
        with start("run", "--grace", "300ms" if catches == ":" else "20s", *program) as running:
            running.line()
            running.signal(sent)
            run = running.wait()
        is_((run.status, run.code, run.result["exit"]), ("cancelled", code, ended), f"{sent.name}, trap {catches or 'none'}", run)
        is_(run.result["cause"]["evidence"]["signal"], sent.name[3:], f"{sent.name}: the evidence has it")
done()
