#!/usr/bin/python3
"""--cpus is a rate, held by cpu.max: two busy processes together get that much cpu and no more."""
from guest import *

# Two busy loops, and between two looks at the kernel's own count of their time four seconds.
SCRIPT = """
while :; do :; done &
while :; do :; done &
look() { cat /proc/uptime; grep usage_usec /sys/fs/cgroup/cpu.stat; }
look; sleep 4; look
"""


def rate(*flags):
    run = pinfold("run", *flags, eater(), "/bin/sh", "-c", SCRIPT)
    is_((run.status, run.code), ("exited", 0), f"{' '.join(flags)}: it burns", str(run))
    uptime0, _, _, usec0, uptime1, _, _, usec1 = run.out.split()
    return run, (int(usec1) - int(usec0)) / 1e6 / (float(uptime1) - float(uptime0))


run, unlimited = rate("--cpus", "none")
within(unlimited, 1.4, 2.1, "the control gets most of two cpus")
run, half = rate("--cpus", "0.5")
within(half, 0.35, 0.56, "half a cpu is half a cpu")
row = run.guarantee("cpus")
is_((row["state"], row["by"]), ("enforced", "cpu.max"), "the ledger says by what", str(row))
is_(row["value"].split()[0], str(int(row["value"].split()[1]) // 2), "quota and period were read back")
run, more = rate("--cpus", "1.5")
within(more, 1.1, 1.65, "one and a half are more than one")
done()
