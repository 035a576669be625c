#!/usr/bin/python3
"""Out of memory is `oom` whichever process of the tree hit it, at once or late, and whatever main makes of it."""
from guest import *

LIMIT = 15 * MIB
memory = ["--memory", "15M", "--scratch", "8M"]

for turn in range(5):
    run = pinfold("run", *memory, eater(), "/bin/dd", "if=/dev/zero", "of=/dev/null", "bs=20M", "count=1")
    if not ok(run.status == "oom" and run.code == 137, f"turn {turn}: instant death of main is oom", str(run)):
        break

run = pinfold("run", *memory, eater(), "/bin/sh", "-c", "/bin/eat anon 64; exit 0")
killed_at(run, LIMIT, "a child while main waits and would exit 0")

run = pinfold("run", *memory, eater(), "/bin/sh", "-c", "(/bin/eat anon 64 &) & trap '' TERM; sleep 60; exit 0")
killed_at(run, LIMIT, "an orphan in the background")

run = pinfold("run", *memory, eater(), "/bin/sh", "-c", "kill -9 $$")
is_((run.status, run.result["exit"]["signal"]), ("signaled", 9), "a program that kills itself is not oom", str(run))

run = pinfold("run", *memory, "--wall", "3s", "--grace", "200ms", eater(), "/bin/sh", "-c", "trap '' TERM; while :; do sleep 1; done")
is_((run.status, run.code), ("wall-timeout", 124), "nor is a deadline that is kept with SIGKILL", str(run))
done()
