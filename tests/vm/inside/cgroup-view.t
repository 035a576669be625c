#!/usr/bin/python3
"""Inside, /sys/fs/cgroup is the sandbox's own cgroup, seen as the root, with its limits to read and nothing to write."""
from guest import *

SCRIPT = """
cat /proc/self/cgroup
cat /sys/fs/cgroup/memory.max
cat /sys/fs/cgroup/pids.max
for f in memory.max cgroup.procs cgroup.subtree_control memory.swap.max cgroup.kill pids.max; do
	(echo 1 > /sys/fs/cgroup/$f) 2>/dev/null && echo "wrote $f"
done
mkdir /sys/fs/cgroup/sub 2>/dev/null && echo "made a cgroup"
mount -t cgroup2 none /tmp 2>/dev/null && echo "mounted"
exit 0
"""

run = pinfold("run", "--memory", "64M", "--scratch", "16M", "--pids", "30", eater(), "/bin/sh", "-c", SCRIPT)
is_(run.out.decode().split("\n"), ["0::/", str(64 * MIB), "31", ""], "the limits are seen, nothing can be written", str(run))
is_(run.guarantee("cgroup-ns")["state"], "enforced", "the ledger has the namespace")
done()
