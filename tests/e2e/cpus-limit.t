#!/usr/bin/python3
"""--cpus is what the program sees and gets: the cpus that it may run on, the number that runtimes size their thread pools
by; and it cannot take more than that, nor another policy."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

have = len(os.sched_getaffinity(0))
for asked, want in ("1", 1), ("0.5", 1), ("2", min(2, have)), ("1.5", min(2, have)), ("none", have), ("1000", have):
    run = pinfold("run", "--cpus", asked, tiny(), "/bin/payload", "sched", ",", "cat", "/sys/devices/system/cpu/online")
    lines = run.out.decode().splitlines()
    ok(f"affinity {want}" in lines and f"online {want}" in lines, f"--cpus {asked}: {want} to run on and to see", run)
    row = run.guarantee("cpus")
    unlike(row["value"] or "", r"\n", f"--cpus {asked}: the ledger has no line end")
row = pinfold("run", "--cpus", "1", tiny(), "/bin/payload", "exit", "0").guarantee("cpus")
if row["by"] == "cpu.max":
    is_(row["state"], "enforced", "cpu.max: enforced", str(row))
else:
    is_((row["by"], row["state"]), ("sched_setaffinity", "degraded"), "without the controller: affinity, degraded", str(row))
    ok(row["not_covered"], "and what is not covered")

NUMBERS = {"x86_64": {"sched_setaffinity": 203, "sched_setscheduler": 144, "setpriority": 141, "ioprio_set": 251},
           "aarch64": {"sched_setaffinity": 122, "sched_setscheduler": 119, "setpriority": 140, "ioprio_set": 30}}
numbers = NUMBERS[os.uname().machine]
run = pinfold("run", tiny(), "/bin/payload", "syscall", numbers["sched_setscheduler"], "0", "1", "0", ",",
              "syscall", numbers["setpriority"], "0", "0", "-20", ",", "syscall", numbers["ioprio_set"], "1", "0", "8192")
is_([line.split()[-1] for line in run.out.decode().splitlines()], ["EPERM"] * 3, "no other policy, nice or io class", run)
run = pinfold("run", tiny(), "/bin/payload", "syscall", numbers["sched_setscheduler"], "0", "0", "0", ",",
              "syscall", numbers["sched_setscheduler"], "0", "0x40000000", "0", ",", "syscall", numbers["sched_setscheduler"], "0", "3", "0")
is_([line.split()[-1] for line in run.out.decode().splitlines()], ["EINVAL", "EPERM", "EPERM"], "the plain policy, which it has, may be asked for; with a flag, or another, not", run)
if row["by"] != "cpu.max":
    run = pinfold("run", "--cpus", "1", tiny(), "/bin/payload", "syscall", numbers["sched_setaffinity"], "0", "0", "0")
    like(run.out.decode(), r" EPERM$", "affinity is what holds it, so it cannot be changed")

run = pinfold("run", "--priority", "low", tiny(), "/bin/payload", "sched")
like(run.out.decode(), r"^nice 19$", "--priority low: nice 19")
run = pinfold("run", "--priority", "low", rootfs("python"), "python3", "-c",
              "import os; os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0)); print(os.getpriority(os.PRIO_PROCESS, 0))")
is_(run.out, b"19\n", "which asking for the plain policy does not change", run)
run = pinfold("run", "--priority", "normal", tiny(), "/bin/payload", "sched")
like(run.out.decode(), r"^nice 0$", "--priority normal: nice 0")
run = pinfold("run", "--cpus", "2", rootfs("python"), "python3", "-c", "import os; print(os.cpu_count(), len(os.sched_getaffinity(0)))")
is_(run.out.decode().split(), [str(min(2, have))] * 2, "python counts them right", run)

# T53: 8 at a time with 50 threads each are independent of each other.
runs = [start("run", tiny(), "/bin/payload", "threads", "50", ",", "exit", "2") for _ in range(8)]
codes = []
for running in runs:
    with running:
        codes.append(running.wait().code)
is_(codes, [2] * 8, "8 runs at a time with 50 threads each")
done()
