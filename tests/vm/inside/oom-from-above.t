#!/usr/bin/python3
"""A kill for memory that came from above the sandbox's own limit is not called `oom`: the program kept its own."""
from guest import *

if not own_subtree():
    skip_all("no systemd lets a test put a limit above the scope that it gives")

with Group("above") as above:
    write(str(24 * MIB), above, "memory.max")
    write("0", above, "memory.swap.max")
    run = pinfold("run", "--cgroup-parent", above, "--memory", "64M", "--scratch", "16M", eater(), "/bin/eat", "anon", "48")
    is_(run.status, "lost", "the parent's limit killed: lost", str(run))
    ok(run.evidence.get("memory.events.oom_kill", 0) > 0, "the evidence is the kill", str(run))
    is_(run.evidence.get("memory.events.oom"), 0, "and that the leaf's own limit was not reached")
    is_(run.result["ok"], False, "it is not ok")

    run = pinfold("run", "--cgroup-parent", above, "--memory", "16M", "--scratch", "8M", eater(), "/bin/eat", "anon", "48")
    killed_at(run, 16 * MIB, "the leaf's own limit below the same parent")
    is_([name for name in os.listdir(above) if name.startswith("pinfold-")], [], "nothing is left below the parent")
done()
