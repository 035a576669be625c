#!/usr/bin/python3
"""T53: a program sees as many processors as it may use, so that its pools are of that size; and many runs of one user at a
time have the tasks that each was given, whatever the others have."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

have = len(os.sched_getaffinity(0))
for asked in (1, 2):
    want = min(asked, have)
    run = pinfold("run", "--cpus", str(asked), "@host", "sh", "-c", "nproc; python3 -c 'import os; print(os.cpu_count(), len(os.sched_getaffinity(0)))'")
    ok(run.out.split()[0] == b"%d" % want and run.out.split()[2] == b"%d" % want, f"--cpus {asked}: nproc and the affinity say {want}", run)

RUNS, THREADS = 8, 50
running = [start("run", "--pids", str(THREADS + 1), "--id", f"pool-{os.getpid()}-{number}", tiny(), "/bin/payload", "threads", str(THREADS), ",", "await", "10")
           for number in range(RUNS)]
try:
    lines = [one.line() for one in running]
    is_(lines, [f"threads {THREADS} -"] * RUNS, f"{RUNS} runs of one user at a time: {THREADS} threads in each")
    again = pinfold("run", "--pids", "10", tiny(), "/bin/payload", "threads", "50")
    like(again.out, rb"^threads 9 EAGAIN", "and one with fewer of them has those")
finally:
    for one in running:
        one.process.terminate()
    ends = [one.wait().status for one in running]
is_(ends, ["cancelled"] * RUNS, "each ends by itself")
done()
