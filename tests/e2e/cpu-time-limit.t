#!/usr/bin/python3
"""--cpu-time counts what the whole tree uses, threads and children included, and ends the run with status cpu-timeout,
the figure as evidence and code 124; waiting costs nothing."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

LIMIT_USEC = 300_000
busy = ["--cpu-time", "300ms", "--wall", "100s"]


def check(name, verbs, *options):
    run = pinfold("run", *busy, *options, tiny(), "/bin/payload", *verbs, timeout=120)
    is_((run.status, run.code, run.result["ok"]), ("cpu-timeout", 124, False), f"{name}: cpu-timeout, 124", run)
    is_(run.result["cause"]["limit"], "cpu-time", f"{name}: the limit has its name")
    # Not before the limit, and not by another order of magnitude after it.
    within(run.evidence.get("cpu_usec"), LIMIT_USEC, 10 * LIMIT_USEC, f"{name}: the time that it used is evidence")
    return run


run = check("one thread", ["burn", "600"])
check("four threads", ["burn", "600", "4"])
check("four threads on two cpus", ["burn", "600", "4"], "--cpus", "2")
check("children", ["bg", "burn", "600", ",", "bg", "burn", "600", ",", "sleep", "600"])
check("a child of a child", ["bg", "forkburn", "600", "1", ",", "sleep", "600"])

row = run.guarantee("cpu-time")
if row["state"] == "enforced":
    is_(row["by"], "cpu.stat", "the ledger: by cpu.stat")
    check("children that nobody waits for", ["forkburn", "5", "100"])
    check("a chain of forks", ["fork-chain", "600"], "--pids", "32")
    usage = run.result["usage"]
    within(usage["cpu_user_usec"] + usage["cpu_system_usec"], LIMIT_USEC, 10 * LIMIT_USEC, "usage is of the same size")
else:
    is_((row["state"], row["by"]), ("degraded", "sum of /proc/PID/stat"), "the ledger: degraded, by a sum")
    ok("children that were never waited for" in row["not_covered"], "and it names what is not covered", str(row))

run = pinfold("run", *busy, tiny(), "/bin/payload", "sleep", "0.6", ",", "exit", "3")
is_((run.status, run.code), ("exited", 3), "sleeping longer than the limit: exited", run)
run = pinfold("run", "--cpu-time", "20s", tiny(), "/bin/payload", "burn", "0.2", ",", "exit", "3")
is_((run.status, run.code), ("exited", 3), "below the limit: exited", run)
run = pinfold("run", "--cpu-time", "20s", "--wall", "300ms", tiny(), "/bin/payload", "burn", "600")
is_(run.status, "wall-timeout", "the limit that is reached first decides", run)
done()
