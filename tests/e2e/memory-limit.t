#!/usr/bin/python3
"""--memory bounds the sandbox as a whole. With the controller the kernel enforces it; without, a watch sums what can be
seen, kills with status oom and code 137, and the ledger says what it cannot see."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

MIB = 1 << 20
limit = ["--memory", "64M", "--wall", "60s"]


def oom(name, verbs, *options, image=None):
    run = pinfold("run", *limit, *options, image or tiny(), "/bin/payload", *verbs, timeout=120)
    is_((run.status, run.code, run.result["ok"]), ("oom", 137, False), f"{name}: oom, 137", run)
    is_(run.result["cause"]["limit"], "memory", f"{name}: the limit has its name")
    ok(run.evidence.get("seen_bytes", 0) > 64 * MIB or run.evidence.get("memory.events.oom", 0) > 0,
       f"{name}: evidence", str(run.evidence))
    return run


def fine(name, verbs, *options, image=None, code=3):
    run = pinfold("run", *limit, *options, image or tiny(), "/bin/payload", *verbs)
    is_((run.status, run.code), ("exited", code), f"{name}: exited", run)
    return run




def hole(what, row, verbs, **also):
    """A hole that is named stays known: twice the limit of it is not seen."""
    ok(what in row["not_covered"], f"not covered: {what}", str(row))
    run = pinfold("run", "--memory", "4M", "--scratch", "1M", also.get("image") or tiny(), "/bin/payload", *verbs)
    is_((run.status, run.code), ("exited", 3), f"{what}: {verbs[0]} is not seen", run)


def covers_not(row):
    hole("page tables", row, ["page-tables", "8M", *end])
    hole("kernel memory", row, ["messages", "8M", *end])
    hole("pipes", row, ["pipes", "6M", *end])
    hole("sockets", row, ["sockets", "8M", *end])
    hole("files behind descriptors in flight", row, ["in-flight", "8M", *end])
    hole("shared memory in no page table", row, ["unmapped", "8M", *end])
    hole("shared memory in no page table", row, ["shared", "copied", "3M", *end])
    ok("page cache" in row["not_covered"], "not covered: page cache, as shown above", str(row))
    # Between two looks there is time for so little; a machine that stands still in between makes a look more.
    ok("growth between two looks" in row["not_covered"], "not covered: growth between two looks", str(row))
    runs = (pinfold("run", "--memory", "4M", "--scratch", "1M", tiny(), "/bin/payload", "alloc", "8M", ",", "exit", "3")
            for _ in range(10))
    ok(any(run.status == "exited" for run in runs), "growth between two looks is not seen")
    if WHO == "root":
        is_(len(row["not_covered"]), 8, "and nothing more", str(row))
        oom("undumpable: a memfd", ["undumpable", ",", "memfd", "100M", *stay])
        return
    is_(len(row["not_covered"]), 10, "and nothing more", str(row))
    hole("descriptors of undumpable processes", row, ["undumpable", ",", "memfd", "8M", *end])
    if os.geteuid() == 0:  # to make a file that is not the user's
        unreadable(row)


def unreadable(row):
    """A program that its user may not read. Under an overlay, which reads it, that cannot be executed."""
    names = ("proc", "sys", "dev", "tmp", "run", "scratch", "etc")
    tree = image({**{name: ("dir", 0o755) for name in names}, "bin/payload": ("copy", payload_path())})
    os.chmod(os.path.join(tree, "bin/payload"), 0o711)
    hole("unreadable programs beyond one's private memory", row, ["bg", "alloc", "3M", ",", "bg", "alloc", "3M", *end], image=tree)
    hole("unreadable programs beyond one's private memory", row, ["shared", "anon", "8M", *end], image=tree)
    oom("an unreadable program", ["alloc", "100M", *stay], image=tree)
    fine("children of an unreadable program below it", ["alloc", "52M", ",", "bg", "sleep", "1", ",", "bg", "sleep", "1", *end],
         image=tree)


SHARED = {"anon": "shared anonymous memory", "zero": "a mapped /dev/zero", "memfd": "a mapped memfd without descriptor",
          "memfd-open": "a mapped memfd", "memfd-twice": "a memfd mapped twice", "sysv": "an attached SysV segment"}
stay = [",", "sleep", "600"]
run = oom("anonymous memory", ["alloc", "100M", *stay])
oom("a memfd", ["memfd", "100M", *stay])
oom("SysV shared memory", ["shm", "100M", *stay])
oom("in many segments", ["shm", "64K", "1600", *stay])
for kind, name in SHARED.items():
    oom(name, ["shared", kind, "100M", *stay])
oom("shared memory and files together", ["mmap-file", "40M", ",", "shared", "anon", "40M", *stay])
oom("the first thread has ended: private memory", ["leader-exits", "600", "alloc", "100M"])
oom("the first thread has ended: shared memory", ["leader-exits", "600", "shared", "anon", "100M"])
oom("the first thread has ended: a memfd", ["leader-exits", "600", "memfd", "100M"])
oom("a memfd of a thread with descriptors of its own", ["own-table", "600", "memfd", "100M"])
oom("undumpable: private memory", ["undumpable", ",", "alloc", "100M", *stay])
oom("undumpable: shared memory", ["undumpable", ",", "shared", "memfd", "100M", *stay])
oom("anonymous memory and files together", ["alloc", "40M", ",", "tmpfs", "40M", *stay])
run = pinfold("run", *limit, busybox_image(), "sh", "-c", "payload alloc 100M , sleep 600 & sleep 600", timeout=120)
is_((run.status, run.code), ("oom", 137), "in a child, while the main process sleeps: oom, 137", run)
oom("left behind by many children together", ["bg", "shm", "8M", ","] * 12 + ["sleep", "600"])
oom("a mapped file", ["mmap-file", "60M", ",", "alloc", "30M", *stay])

end = [",", "sleep", "0.2", ",", "exit", "3"]
fine("anonymous memory below it", ["alloc", "32M", *end])
fine("files below it", ["tmpfs", "32M", *end])
fine("a memfd below it", ["memfd", "32M", *end])
# Nothing counts twice, whoever maps it and wherever it is counted.
for kind, name in SHARED.items():
    fine(f"{name}, in four processes, below it", ["shared", kind, "52M", "3", *end])
fine("private pages of a memfd below it", ["shared", "copied", "26M", *end])
for place in "mapped", "/dev/shm/mapped":
    verbs = ["mmap-file", "52M", place]
    fine(f"{place}, mapped by three", [*verbs, ",", "bg", *verbs, ",", "bg", *verbs, *end])
fine("some of each below it", ["memfd", "10M", ",", "shared", "sysv", "10M", "2", ",", "mmap-file", "10M", ",", "shared",
                               "memfd-open", "10M", "2", ",", "shared", "anon", "10M", "2", *end])
fine("many segments below it", ["shm", "64K", "800", *end])
fine("the first thread has ended, below it", ["leader-exits", "0.2", "alloc", "52M"], code=0)
fine("a memfd of a thread with descriptors of its own, below it", ["own-table", "0.2", "memfd", "52M"], code=0)
# A vfork (posix_spawn, subprocess) is two processes with one memory.
fine("private memory during a vfork", ["alloc", "52M", ",", "vfork", "0.3", *end])
fine("shared memory during a vfork", ["shared", "anon", "52M", ",", "vfork", "0.3", *end])
fine("a vfork of a process with another child", ["alloc", "52M", ",", "bg", "sleep", "1", ",", "vfork", "0.3", *end])
# So are processes that clone(CLONE_VM) makes, for as long as they like. Equal ones that fork made are not.
fine("private memory in four processes with one memory", ["alloc", "52M", ",", "share-memory", "0.5", "3", *end])
fine("shared memory in four processes with one memory", ["shared", "anon", "52M", ",", "share-memory", "0.5", "3", *end])
fine("one memory, and another process", ["bg", "own-table", "1", "alloc", "24M", ",", "alloc", "26M", ",", "share-memory", "1", "2", *end])
equal = ["bg", "own-table", "600", "alloc", "24M"]
oom("equal children with memory of their own", [*equal, ",", *equal, ",", *equal, *stay])
oom("equal processes whose first thread has ended", ["bg", "leader-exits", "600", "alloc", "40M", ",", "bg", "leader-exits", "600", "alloc", "40M", *stay])
oom("one memory above it", ["alloc", "100M", ",", "share-memory", "600", "3", *stay])
run_fine = fine("address space that is not used", ["mmap-file", "60M", ",", "exit", "3"])

# A program that makes looking slow does not choose when it is looked at.
slow_tables = ["zero-pages", "8G"]
run = oom("after a slow look", [*slow_tables, ",", "sleep", "1", ",", "alloc", "100M", *stay])
within(run.result["usage"]["memory_peak_bytes"], 64 * MIB, 200 * MIB, "and the peak is what was seen")
run = oom("with many mappings in many processes", ["mappings", "60000", ",", "fork-bomb", "10", ",", "alloc", "100M", *stay])

if run.guarantee("memory")["by"] == "memory.max":
    fine("nobody looks, so that nothing is slow", [*slow_tables, ",", "share-memory", "1", "40", *end])
else:
    run = pinfold("run", *limit, tiny(), "/bin/payload", *slow_tables, ",", "share-memory", "600", "40", *stay, timeout=120)
    is_((run.status, run.code), ("lost", 125), "looks that do not end: lost, 125", run)
    like(run.message, r"memory cannot be watched any more", "and it says why")
    within(run.evidence.get("look_cpu_usec", 0) + run.evidence.get("look_usec", 0), 1_000_000, 20_000_000, "with the time as evidence")

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
    covers_not(row)
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
