#!/usr/bin/python3
"""--memory bounds the sandbox as a whole. With the controller the kernel enforces it; without, a watch sums what can be
seen, kills with status oom and code 137, and the ledger says what it cannot see."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

MIB = 1 << 20
limit = ["--memory", "64M", "--wall", "60s"]


def oom(name, verbs, *options):
    run = pinfold("run", *limit, *options, tiny(), "/bin/payload", *verbs, timeout=120)
    is_((run.status, run.code, run.result["ok"]), ("oom", 137, False), f"{name}: oom, 137", run)
    is_(run.result["cause"]["limit"], "memory", f"{name}: the limit has its name")
    ok(run.evidence.get("seen_bytes", 0) > 64 * MIB or run.evidence.get("memory.events.oom", 0) > 0,
       f"{name}: evidence", str(run.evidence))
    return run


def fine(name, verbs, *options):
    run = pinfold("run", *limit, *options, tiny(), "/bin/payload", *verbs)
    is_((run.status, run.code), ("exited", 3), f"{name}: exited", run)
    return run


stay = [",", "sleep", "600"]
run = oom("anonymous memory", ["alloc", "100M", *stay])
oom("a memfd", ["memfd", "100M", *stay])
oom("SysV shared memory", ["shm", "100M", *stay])
oom("anonymous memory and files together", ["alloc", "40M", ",", "tmpfs", "40M", *stay])
run = pinfold("run", *limit, busybox_image(), "sh", "-c", "payload alloc 100M , sleep 600 & sleep 600", timeout=120)
is_((run.status, run.code), ("oom", 137), "in a child, while the main process sleeps: oom, 137", run)
oom("left behind by many children together", ["bg", "shm", "8M", ","] * 12 + ["sleep", "600"])
oom("a mapped file", ["mmap-file", "60M", ",", "alloc", "30M", *stay])

end = [",", "sleep", "0.2", ",", "exit", "3"]
fine("anonymous memory below it", ["alloc", "32M", *end])
fine("files below it", ["tmpfs", "32M", *end])
fine("memory shared by many counts once", ["memfd", "32M", *end])
run_fine = fine("address space that is not used", ["mmap-file", "60M", ",", "exit", "3"])

# T45: what the kernel can take back at any time is no one's memory.
large = busybox_image()
with open(os.path.join(large, "large"), "wb") as file:
    file.truncate(200 * MIB)
run = pinfold("run", *limit, large, "dd", "if=/large", "of=/dev/null", "bs=1M")
is_((run.status, run.code), ("exited", 0), "a file of 200 MiB can be read through", run)

row = run.guarantee("memory")
is_(row["requested"], "64M", "the ledger says what was asked for")
if row["by"] == "memory.max":
    is_((row["state"], row["value"]), ("enforced", str(64 * MIB)), "memory.max, read back", str(row))
else:
    is_(row["state"], "degraded", "without the controller: degraded")
    for what in ("page tables", "kernel memory", "pipes", "files behind descriptors in flight", "growth between two looks"):
        ok(what in row["not_covered"], f"not covered: {what}", str(row))
    is_(run.guarantee("swap")["state"], "degraded", "swap too")
    like(run.err.decode(), r"^pinfold: degraded here: memory", "stderr says it once")

# T43: killed by itself, or by a time limit, is not out of memory.
run = pinfold("run", *limit, tiny(), "/bin/payload", "signal", "9")
is_((run.status, run.code), ("signaled", 137), "kill -9 of itself: signaled", run)
run = pinfold("run", "--memory", "64M", "--wall", "200ms", tiny(), "/bin/payload", "ignore-term", ",", "sleep", "600")
is_((run.status, run.code), ("wall-timeout", 124), "the wall limit with little memory: wall-timeout", run)

run = pinfold("run", "--memory", "none", tiny(), "/bin/payload", "alloc", "100M", ",", "exit", "3")
is_((run.status, run.code), ("exited", 3), "--memory none lifts it", run)
run = pinfold("run", "--memory", "64M", "--scratch", "65M", tiny(), "/bin/payload", "exit", "3")
is_((run.status, run.code), ("refused", 125), "a scratch larger than the memory is refused", run)
like(run.message, r"scratch 65M.*memory 64M", "with the figures")
done()
