#!/usr/bin/python3
"""SIGKILL of the supervisor takes the sandbox along. What may stay is one empty cgroup leaf, which `pinfold gc` and
the next run remove; under a systemd scope not even that."""
import signal

from guest import *
from host import processes


def kill_one(mark):
    """Kill a run's supervisor, wait until nothing of the run lives; the leaves that stay."""
    with start("run", "--id", mark, eater(), "/bin/sh", "-c", "echo up; sleep 600 & sleep 600") as running:
        is_(running.process.stdout.readline(), b"up\n", f"{mark}: it runs")
        ok(any(mark in path for path in leaves()), f"{mark}: it has a leaf", str(leaves()))
        running.signal(signal.SIGKILL)
        running.process.wait()
        wait_for(lambda: not processes(mark), what=f"the end of {processes(mark)}")
    return leaves()


left = kill_one("killed-1")
if BOOT == "systemd":
    wait_for(lambda: not leaves(), what="the end of the scope")
    ok(True, "the scope went by itself")
else:
    ok(len(left) <= 1, "at most one leaf stays", str(left))
    gc = pinfold("gc")
    is_((gc.code, leaves()), (0, []), "pinfold gc takes it", str(gc))
    left = kill_one("killed-2")
    run = pinfold("run", eater(), "/bin/true")
    is_((run.code, leaves()), (0, []), "the next run takes it", str(run))

with start("run", "--id", "alive", eater(), "/bin/sh", "-c", "echo up; sleep 3; echo done") as running:
    is_(running.process.stdout.readline(), b"up\n", "a run is alive")
    gc = pinfold("gc")
    is_(gc.code, 0, "gc beside it", str(gc))
    run = running.wait()
    is_((run.status, run.out), ("exited", b"done\n"), "and does it no harm", str(run))
done()
