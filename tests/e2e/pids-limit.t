#!/usr/bin/python3
"""--pids is a wall for processes and threads together, pid 1 of the sandbox not counted; concurrent runs of one user do
not share it."""
import ctypes
import os
import resource
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *


def check(args, verbs, want, code, name):
    run = pinfold("run", *args, tiny(), "/bin/payload", *verbs)
    is_((run.out, run.status, run.code), (want, "exited", code), name, run)
    return run


for args in (["--pids", "20"], ["--pids", "20", "--uid", "0"]):
    who = " ".join(args)
    check(args, ["fork-bomb", "19"], b"forked 19 -\n", 0, f"{who}: the program and 19 children")
    run = check(args, ["fork-bomb", "20"], b"forked 19 EAGAIN\n", 1, f"{who}: not one more")
    check(args, ["threads", "19"], b"threads 19 -\n", 0, f"{who}: 19 threads")
    check(args, ["threads", "20"], b"threads 19 EAGAIN\n", 1, f"{who}: not one more")
    check(args, ["fork-bomb", "10", ",", "threads", "10"], b"forked 10 -\nthreads 9 EAGAIN\n", 1, f"{who}: together")
check(["--pids", "1"], ["fork-bomb", "1"], b"forked 0 EAGAIN\n", 1, "--pids 1: the program alone")
check(["--pids", "none"], ["fork-bomb", "300"], b"forked 300 -\n", 0, "--pids none: more than the default")
check([], ["fork-bomb", "256"], b"forked 255 EAGAIN\n", 1, "the default is 256")
check(["--pids", "64"], ["orphans", "150"], b"orphans 150\n", 0, "what has ended does not count")

row = run.guarantee("pids")
is_(row["requested"], "20", "the ledger says what was asked for")
if "pids" in controllers() and row["by"] == "pids.max":
    is_(row["state"], "enforced", "pids.max: enforced")
    ok(run.evidence.get("pids.events.max", 0) >= 1, "and the kernel counted it", run)
    is_(run.result["usage"]["pids_peak"], 20, "the peak, without pid 1", run)
else:
    is_((row["by"], row["state"]), ("RLIMIT_NPROC", "degraded"), "without the controller: RLIMIT_NPROC, degraded", run)
    ok(row["not_covered"], "and what is not covered")

# What this process may not give is refused, a default that is cut is told, and soft limits do not count: the kernel makes
# the creator's soft limit one of the new user namespace, so that it has to be raised before. All of a user's processes count
# against its hard limit, so it is far above what a test's user has.
ENOUGH = 4000
PR_SET_DUMPABLE, CLONE_NEWUSER = 4, 0x10000000
own_hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]


def processes(soft, hard):
    return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NPROC, (soft, hard))}


def few_of_its_own():
    """At most 200 processes, of which those that the user has elsewhere are none: they count in each user namespace by themselves."""
    if WHO == "user":
        libc, uid, gid = ctypes.CDLL(None), os.geteuid(), os.getegid()
        libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)  # or /proc/self would not be its own
        if libc.unshare(CLONE_NEWUSER) != 0:
            os._exit(1)
        for name, text in ("setgroups", b"deny"), ("uid_map", b"%d %d 1" % (uid, uid)), ("gid_map", b"%d %d 1" % (gid, gid)):
            os.write(os.open(f"/proc/self/{name}", os.O_WRONLY), text)
    resource.setrlimit(resource.RLIMIT_NPROC, (200, 200))


if own_hard != resource.RLIM_INFINITY and own_hard < ENOUGH:
    skip(f"needs a hard limit of {ENOUGH} processes", "--pids and the caller's own limit")
else:
    run = pinfold("run", "--pids", ENOUGH + 1, tiny(), "/bin/payload", "exit", "3", **processes(ENOUGH, ENOUGH))
    is_((run.status, run.code), ("refused", 125), "--pids above this process's hard limit: refused", run)
    like(run.message, rf"--pids {ENOUGH + 1} .*{ENOUGH} ", "with both figures")
    run = pinfold("run", "--pids", "100", tiny(), "/bin/payload", "fork-bomb", "100", **processes(1, ENOUGH))
    is_(run.out, b"forked 99 EAGAIN\n", "a soft limit of the caller's does not count", run)
    run = pinfold("run", "--pids", "none", tiny(), "/bin/payload", "exit", "3", **processes(ENOUGH, ENOUGH))
    row = run.guarantee("pids")
    is_((run.code, row["state"], row["value"]), (3, "enforced", str(ENOUGH)), "--pids none: the caller's own limit is left, and told", run)
    run = pinfold("run", tiny(), "/bin/payload", "rlimits", preexec_fn=few_of_its_own)
    like(run.out.decode(), r"^nproc 200 200$", "the default, where this process may have less: that")
    ok(any("256 pids" in text and "200 processes" in text for text in run.result["warnings"]), "and a warning says so", run)
    row = run.guarantee("pids")
    ok(row["by"] != "RLIMIT_NPROC" or row["value"] == "200", "and the ledger", str(row))

# PR09: the host goes on to fork while a bomb is at its limit.
with start("run", "--pids", "200", tiny(), "/bin/payload", "fork-bomb", "199", ",", "sleep", "600") as running:
    like(running.line(), r"^forked 199 -$", "a bomb at its limit")
    is_([subprocess.run(["/bin/true"], check=False).returncode for _ in range(20)], [0] * 20, "the host forks as ever")
with start("run", "--pids", "32", "--wall", "500ms", tiny(), "/bin/payload", "fork-chain", "600") as running:
    is_([subprocess.run(["/bin/true"], check=False).returncode for _ in range(20)], [0] * 20, "and during a chain of forks")
    is_(running.wait().status, "wall-timeout", "which ends by its limit")

# Eight runs of the same user, each with 50 threads: together far above the limit of one.
runs = [start("run", "--pids", "60", tiny(), "/bin/payload", "threads", "50", ",", "await", "10", ",", "exit", "2")
        for _ in range(8)]
try:
    is_([running.line() for running in runs], ["threads 50 -"] * 8, "8 concurrent runs have 50 threads each")
    for running in runs:
        running.line()
        running.signal(10)
    is_([running.wait().code for running in runs], [2] * 8, "and end well")
finally:
    for running in runs:
        with running:
            pass
done()
