#!/usr/bin/python3
"""PR09, PR10: bombs of processes, threads and orphans stay within their number, and the host goes on."""
import os
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from attack import *
from pf import *

tree = probe_image()
WALL = 3
limits = ["--pids", "40", "--wall", f"{WALL}s"]
attack({"PR09.processes": "EAGAIN", "PR09.threads": "EAGAIN"}, tree, limits[:2], {"COUNT": "41"}, title="41 tasks: ")
outcomes, run = strong(tree, ["PR09.processes"], ["--pids", "40"], {"COUNT": "35"})
is_(outcomes, {"PR09.processes": ("reached", "0")}, "35 beside the two that run are within 40", run)



def fork_now_and_then(late, stop):
    while not stop.is_set():
        begin = time.monotonic()
        os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
        late.append(time.monotonic() - begin)
        time.sleep(0.02)


# Bombs that never end: of children, of parents that wait in vfork, of programs, of exits.
for verb in "bomb", "vfork-chain", "exec-chain", "exit-storm":
    late, stop = [], threading.Event()
    thread = threading.Thread(target=fork_now_and_then, args=(late, stop))
    thread.start()
    with unharmed(verb):
        run = do(tree, verb, flags=limits)
    stop.set()
    thread.join()
    # A run that is not gone within 5 s of it is "lost".
    is_(run.status, "wall-timeout", f"{verb}: ends at its limit, and is gone", run)
    ok(len(late) > 5, f"{verb}: the host could start processes meanwhile ({len(late)} times)")
    if verb in ("bomb", "vfork-chain"):
        children = int(run.out.split()[1]) if run.out.startswith(b"children") else None
        within(children, 1 if verb == "bomb" else 20, 40, f"{verb}: it got its number and no more")
    if run.result["usage"]["pids_peak"] is not None:
        within(run.result["usage"]["pids_peak"], 1, 40, f"{verb}: and no more were counted")

with unharmed("orphans"):
    run = do(tree, "orphans", "10000", flags=["--pids", "20", "--wall", "60s"])
    is_((run.status, run.code), ("exited", 0), "10,000 orphans: pid 1 reaps them as they come", run)

done()
