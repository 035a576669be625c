#!/usr/bin/python3
"""200 runs in a row and 8 at a time leave the machine as it was: processes, mounts, sockets, cgroups, files, and the
descriptors of whoever started them."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from host import leftovers, tree
from pf import *

RUNS, AT_ONCE = 200, 8
MARK = f"repeated-{os.getpid()}"
folder = tmpdir()
argv = ["--env", f"MARK={MARK}", tiny(), "/bin/payload", "setsid-daemon", ",", "files", "10", "/tmp", ",", "exit", "3"]


def state():
    return tree(tiny()), sorted(os.listdir("/proc/self/fd")), sorted(os.listdir("/tmp")) if not os.listdir(folder) else None


pinfold("run", *argv)  # what is made once, such as the staged copy of pinfold, is made now
before = state()
running, codes, results = [], [], []
number = 0
while number < RUNS or running:
    while number < RUNS and len(running) < AT_ONCE:
        results.append(os.path.join(folder, f"{number}.json"))
        running.append(start("run", "--id", f"{MARK}-{number}", "--result", results[-1], *argv, result=False))
        number += 1
    with running.pop(0) as first:
        codes.append(first.wait().code)
is_([code for code in codes if code != 3], [], f"{RUNS} runs, {AT_ONCE} at a time, each ends as it should")
is_(leftovers(MARK), [], "no process, socket, cgroup or mount")
is_(sorted(os.listdir(folder)), sorted(map(os.path.basename, results)), "a result each, and no other file")
for path in results:
    os.unlink(path)
after = state()
is_(after[0], before[0], "the image is as it was")
is_(len(after[1]), len(before[1]), "no descriptor came to stay here")

for number in range(20):
    run = pinfold("run", "--id", MARK, *argv)
    if run.code != 3 or leftovers(MARK):
        ok(False, f"run {number} of the same id", run)
        break
else:
    ok(True, "20 runs in a row may have the same id")
done()
