#!/usr/bin/python3
"""--cpus is a rate, held by cpu.max: two busy processes together get that much cpu and no more."""
from guest import *

# Two busy loops, and between two looks at the kernel's own count of their time four seconds. The clock is read on
# both sides of each look: the guest may stand still in between.
SCRIPT = """
while :; do :; done &
while :; do :; done &
look() { cat /proc/uptime; grep usage_usec /sys/fs/cgroup/cpu.stat; cat /proc/uptime; }
look; sleep 4; look
"""


def rate(*flags):
    """The run, and the least and the most that the rate can have been."""
    run = pinfold("run", *flags, eater(), "/bin/sh", "-c", SCRIPT)
    is_((run.status, run.code), ("exited", 0), f"{' '.join(flags)}: it burns", str(run))
    words = [float(word) for word in run.out.split() if word != b"usage_usec"]
    before0, usec0, after0, before1, usec1, after1 = words[0], words[2], words[3], words[5], words[7], words[8]
    used = (usec1 - usec0) / 1e6
    return run, used / (after1 - before0), used / (before1 - after0)


run, _, most = rate("--cpus", "none")
ok(most > 1.4, "the control gets most of two cpus", str(most))
run, least, most = rate("--cpus", "0.5")
ok(least < 0.55 and most > 0.35, "half a cpu is half a cpu", f"{least} to {most}")
row = run.guarantee("cpus")
is_((row["state"], row["by"]), ("enforced", "cpu.max"), "the ledger says by what", str(row))
is_(row["value"].split()[0], str(int(row["value"].split()[1]) // 2), "quota and period were read back")
run, least, most = rate("--cpus", "1.5")
ok(least < 1.6 and most > 1.1, "one and a half are more than one", f"{least} to {most}")
done()
