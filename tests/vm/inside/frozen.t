#!/usr/bin/python3
"""A frozen sandbox is ended by its wall limit as any other."""
from guest import *

with start("run", "--id", "frozen", "--wall", "4s", eater(), "/bin/sh", "-c", "echo up; while :; do :; done") as running:
    is_(running.process.stdout.readline(), b"up\n", "it runs")
    (leaf,) = [path for path in leaves() if keyed(read(path, "cgroup.events"))["populated"]]
    write("1", leaf, "cgroup.freeze")
    wait_for(lambda: keyed(read(leaf, "cgroup.events"))["frozen"], what="frozen")
    run = running.wait(30)
is_((run.status, run.code), ("wall-timeout", 124), "it ends at its limit", str(run))
within(run.result["usage"]["wall_usec"], 4_000_000, 5_000_000, "on time")
is_(leaves(), [], "nothing is left")
done()
