#!/usr/bin/python3
"""Limits so tight that the set-up itself runs into them give a clear result and leave nothing; one that just holds
the program is enough."""
from guest import *

for memory, scratch in ("64K", "4K"), ("256K", "4K"), ("512K", "64K"), ("1M", "64K"):
    run = pinfold("run", "--memory", memory, "--scratch", scratch, eater(), "/bin/true", timeout=30)
    ok((run.status, run.code) in (("oom", 137), ("setup-failed", 125), ("refused", 125), ("exited", 0)),
       f"--memory {memory}: a clear result", str(run))
    if run.status != "exited":
        ok(run.message, f"--memory {memory}: with a reason")
    is_(leaves(), [], f"--memory {memory}: nothing left")

run = pinfold("run", "--pids", "1", eater(), "/bin/true")
is_((run.status, run.code), ("exited", 0), "one task is enough for a program that forks none", str(run))
run = pinfold("run", "--pids", "1", eater(), "/bin/sh", "-c", "/bin/true; echo $?; exit 5")
ok(run.status == "exited" and run.code != 5, "and too little for one that does", str(run))

run = pinfold("run", "--cpus", "0.05", eater(), "/bin/sh", "-c", "echo slow")
is_((run.status, run.out), ("exited", b"slow\n"), "a twentieth of a cpu is slow and nothing worse", str(run))
done()
