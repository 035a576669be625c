#!/usr/bin/python3
"""--cpus is a rate, held by cpu.max: two busy processes together get that much cpu and no more."""
from guest import *

BURN = "while :; do :; done & while :; do :; done"


def rate(*flags):
    run = pinfold("run", "--wall", "5s", *flags, eater(), "/bin/sh", "-c", BURN)
    is_(run.status, "wall-timeout", f"{' '.join(flags)}: it burns until the wall", str(run))
    usage = run.result["usage"]
    return run, (usage["cpu_user_usec"] + usage["cpu_system_usec"]) / usage["wall_usec"]


run, unlimited = rate("--cpus", "none")
within(unlimited, 1.2, 2.5, "the control gets most of two cpus")
run, half = rate("--cpus", "0.5")
within(half, 0.2, 0.56, "half a cpu is half a cpu")
row = run.guarantee("cpus")
is_((row["state"], row["by"]), ("enforced", "cpu.max"), "the ledger says by what", str(row))
is_(row["value"].split()[0], str(int(row["value"].split()[1]) // 2), "quota and period were read back")
run, more = rate("--cpus", "1.5")
within(more, 0.9, 1.65, "one and a half are more than one")
done()
