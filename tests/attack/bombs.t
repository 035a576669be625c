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
limits = ["--pids", "40", "--wall", "2s"]
attack({"PR09.processes": "EAGAIN", "PR09.threads": "EAGAIN"}, tree, limits[:2], {"COUNT": "41"}, title="41 tasks: ")
outcomes, run = strong(tree, ["PR09.processes"], ["--pids", "40"], {"COUNT": "35"})
is_(outcomes, {"PR09.processes": ("reached", "0")}, "35 beside the two that run are within 40", run)

late = []
stop = threading.Event()


def fork_now_and_then():
    while not stop.is_set():
        begin = time.monotonic()
        os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
        late.append(time.monotonic() - begin)
        time.sleep(0.02)


thread = threading.Thread(target=fork_now_and_then)
thread.start()
with unharmed("a fork bomb"):
    begin = time.monotonic()
    run = do(tree, "bomb", flags=limits)
    took = time.monotonic() - begin
stop.set()
thread.join()
is_(run.status, "wall-timeout", "a fork bomb ends at its limit", run)
children = int(run.out.split()[1]) if run.out.startswith(b"children") else None
within(children, 1, 40, "it got no more than its number")
within(took, 2, 10, "and was gone soon after")
ok(len(late) > 5, f"the host could start processes meanwhile ({len(late)} times)")

with unharmed("orphans"):
    run = do(tree, "orphans", "600", flags=["--pids", "20"])
    is_((run.status, run.code), ("exited", 0), "600 orphans: pid 1 reaps them as they come", run)

done()
