#!/usr/bin/python3
"""With swap on, a memory limit is still the limit: nothing is swapped out to get round it, however often."""
import subprocess

from guest import *

if not DISK:
    skip_all("no swap in this guest")
is_(len(read("/proc/swaps").splitlines()), 2, "swap is on")

# The control: under the same limit without a swap limit, the same program has its 64 MiB by swapping.
if AS == "root" and own_subtree():
    with Group("swapping") as group:
        leaf = os.path.join(group, "leaf")
        os.mkdir(leaf)
        write(str(32 * MIB), leaf, "memory.max")
        script = f"echo $$ > {leaf}/cgroup.procs && exec {eater()}/bin/eat anon 64"
        control = subprocess.run(["sh", "-c", script], stdout=subprocess.PIPE, check=False)
        is_(control.stdout, b"full\n", "the control eats 64 MiB of 32")
        os.rmdir(leaf)
else:
    skip("needs root to move a process into a cgroup of its own", "the control")

for turn in ("first", "second"):
    run = pinfold("run", "--memory", "32M", "--scratch", "16M", eater(), "/bin/eat", "anon", "64")
    killed_at(run, 32 * MIB, f"{turn} run")
    row = run.guarantee("swap")
    is_((row["state"], row["by"], row["value"]), ("enforced", "memory.swap.max", "0"), f"{turn} run: the ledger")

run = pinfold("run", "--memory", "64M", "--scratch", "16M", eater(), "/bin/eat", "anon", "48")
is_(run.status, "exited", "another limit in the next run is that run's own", str(run))
done()
