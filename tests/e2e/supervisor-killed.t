#!/usr/bin/python3
"""A supervisor that is killed by SIGKILL at any moment takes its sandbox along: no process, no mount, no socket after a
second, no file at any time; at most an empty cgroup, which `pinfold gc` takes."""
import os
import random
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from host import leftovers, tree
from pf import *

ROUNDS = 100
MARK = f"killed-{os.getpid()}"
folder = tmpdir()
image_before, folder_before = tree(tiny()), tree(folder)


def begin(number, *verbs):
    return start("run", "--id", f"{MARK}-{number}", "--env", f"MARK={MARK}", "--result", os.path.join(folder, "result.json"),
                 tiny(), "/bin/payload", *verbs, result=False, cwd=folder)


def alive():
    return [what for what in leftovers(MARK) if not what.startswith("cgroup ")]


# What a whole run takes here says how long a second is: emulated machines are 20 times slower.
ordinary = min(pinfold("run", tiny(), "/bin/payload", "exit", "0").seconds for _ in range(3))
second = max(1.0, 40 * ordinary)
seed = random.randrange(1 << 30)
diag(f"seed {seed}, an ordinary run takes {ordinary:.3f} s")
chance = random.Random(seed)
longest, left, dropped = 0, [], []
for number in range(ROUNDS):
    with begin(number, "setsid-daemon", ",", "fork-bomb", "5", ",", "sleep", "600") as running:
        time.sleep(chance.uniform(0, max(0.02, 2 * ordinary)))
        running.signal(signal.SIGKILL)
        running.process.wait()
    dropped += os.listdir(folder)
    if number % 10 != 9:
        continue  # looking at every process of the machine takes its time
    killed = time.monotonic()
    while alive() and time.monotonic() < killed + 10 * second:
        time.sleep(0.002)
    longest = max(longest, time.monotonic() - killed)
    left += alive()
is_(left, [], f"{ROUNDS} supervisors killed at random moments: no process, mount or socket")
ok(longest <= second, "and that within a second", f"{longest:.3f} s, allowed are {second:.3f}")
diag(f"the longest took {longest:.3f} s")
is_(dropped, [], "no file, not for a moment")
is_((tree(tiny()), tree(folder)), (image_before, folder_before), "image and folder are as they were")

cgroups = leftovers(MARK)
run = pinfold("gc")
is_(run.code, 0, f"gc takes the cgroups that were left ({len(cgroups)})", run)
is_(leftovers(MARK), [], "nothing is left then")

# Each of the other processes, killed from outside: a result says what happened, and nothing stays either.
if os.geteuid() == 0:
    with start("run", "--id", f"{MARK}-init", "--env", f"MARK={MARK}", tiny(), "/bin/payload", "setsid-daemon", ",", "sleep", "600") as running:
        running.line()
        with open(f"/proc/{running.pid}/task/{running.pid}/children", encoding="ascii") as file:
            init = int(file.read().split()[0])
        os.kill(init, signal.SIGKILL)
        run = running.wait()
    is_((run.status, run.code), ("lost", 125), "pid 1 of the sandbox killed from outside: lost", run)
    is_(leftovers(MARK), [], "nothing stays of it")
    with start("run", "--id", f"{MARK}-program", "--env", f"MARK={MARK}", tiny(), "/bin/payload", "echo", "ready", ",", "sleep", "600") as running:
        running.line()
        with open(f"/proc/{running.pid}/task/{running.pid}/children", encoding="ascii") as file:
            init = int(file.read().split()[0])
        with open(f"/proc/{init}/task/{init}/children", encoding="ascii") as file:
            os.kill(int(file.read().split()[0]), signal.SIGKILL)
        run = running.wait()
    is_((run.status, run.code), ("signaled", 137), "the program killed from outside: signaled", run)
    is_(leftovers(MARK), [], "nothing stays of it")
else:
    skip("needs root", "pid 1 killed from outside")
done()
