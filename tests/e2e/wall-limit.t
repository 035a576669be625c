#!/usr/bin/python3
"""--wall ends the whole tree when the time is over, whatever the program does about it, with status wall-timeout, the
time as evidence and code 124. Time that is not used up is not taken."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *


def check(name, verbs, *options):
    run = pinfold("run", "--wall", "300ms", *options, tiny(), "/bin/payload", *verbs)
    is_((run.status, run.code, run.result["ok"]), ("wall-timeout", 124, False), f"{name}: wall-timeout, 124", run)
    is_(run.result["cause"]["limit"], "wall", f"{name}: the limit has its name")
    elapsed = run.evidence.get("elapsed_usec")
    # Overshoot is measured by tests/bench/compare; here it is that it is not before its time.
    within(elapsed, 300_000, 60_000_000, f"{name}: not before its time")
    within(run.result["usage"]["wall_usec"], 300_000, 60_000_000, f"{name}: usage says so too")
    return run


check("sleep", ["sleep", "600"])
check("TERM ignored", ["ignore", "1", "2", "3", "15", ",", "sleep", "600"])
check("a stopped program", ["stop-self"])
check("a busy program", ["burn", "600"])
check("busy threads", ["burn", "600", "4"])
check("children", ["fork-bomb", "20", ",", "sleep", "600"])
run = check("an endless writer", ["tick", "1000000", "0.001"])
ok(run.out.startswith(b"tick 0\n"), "what it wrote until then is there", run)
check("a reader of nothing", ["cat"], "--stdin", "/dev/zero", "--output", "none")

# Where the memory is watched by looking, neither that nor an event waits for a look that the program made slow.
SLOW = ["zero-pages", "8G", ",", "share-memory", "600", "5", ",", "sleep", "600"]
for options in [], ["--events", "/dev/null"]:
    run = pinfold("run", "--wall", "3s", "--memory", "150M", "--scratch", "32M", *options, tiny(), "/bin/payload", *SLOW)
    is_((run.status, run.code), ("wall-timeout", 124), f"slow looks {options}: wall-timeout, 124", run)
    within(run.evidence.get("elapsed_usec"), 3_000_000, 5_000_000, "and not a look later")

# T43: who kills itself was not killed by us.
run = pinfold("run", "--wall", "60s", tiny(), "/bin/payload", "signal", "9")
is_((run.status, run.code), ("signaled", 137), "kill -9 of itself is no timeout", run)

run = pinfold("run", "--wall", "30s", tiny(), "/bin/payload", "sleep", "0.3", ",", "exit", "3")
is_((run.status, run.code), ("exited", 3), "below the limit: exited", run)
within(run.result["usage"]["wall_usec"], 300_000, 30_000_000, "and the time that it took is told")
run = pinfold("run", "--wall", "none", tiny(), "/bin/payload", "exit", "3")
is_((run.status, run.guarantee("wall")["requested"]), ("exited", "none"), "--wall none", run)

# A caller that does not read delays the program, never a limit.
with start("run", "--wall", "300ms", "--grace", "100ms", "--output", "none", tiny(), "/bin/payload", "spam", "stdout", "100M") as running:
    code = running.process.wait(60)
    run = running.wait()
is_((code, run.status), (124, "wall-timeout"), "nobody reads: the limit holds, and pinfold returns", run)
ok(run.result["output"]["stdout"]["truncated"], "and the result says that output is missing", run)
done()
