#!/usr/bin/python3
"""After a run nothing of it is left: no cgroup, no scope, no mount, no SysV object, also after a kill for memory
that leaves tmpfs and message queues charged."""
import subprocess

from guest import *
from host import Snapshot


def scopes():
    if BOOT != "systemd":
        return []
    command = ["systemctl", "--user"] if AS == "user" else ["systemctl"]
    listed = subprocess.run([*command, "list-units", "--all", "--plain", "--no-legend", "pinfold*"],
                            stdout=subprocess.PIPE, text=True, check=True)
    return [line for line in listed.stdout.splitlines() if "pinfold.slice" not in line]


# The first run of a boot makes the folder with the locks of the id ranges; it is no run's own.
pinfold("run", eater(), "/bin/true")
before = Snapshot()
for kind in ("tmpfs", "msg", "shm"):
    run = pinfold("run", "--memory", "32M", "--scratch", "32M", eater(), "/bin/eat", kind, "40")
    is_(run.status, "oom", f"{kind}: killed", str(run))
    is_(leaves(), [], f"{kind}: no cgroup is left")
for turn in range(4):
    run = pinfold("run", eater(), "/bin/sh", "-c", "sleep 60 & exit 3")
    if not ok((run.status, run.code) == ("exited", 3), f"turn {turn}: the run", str(run)):
        break
    if not ok(leaves() == [], f"turn {turn}: no cgroup is left"):
        break
several = [start("run", eater(), "/bin/sh", "-c", "sleep 60 & exit 3") for _ in range(8)]
is_([running.wait().code for running in several], [3] * 8, "8 at a time: the runs")
is_(leaves(), [], "8 at a time: no cgroup is left")
is_(before.differences(), [], "the guest is as it was before")
is_(scopes(), [], "no scope is left")
done()
