#!/usr/bin/python3
"""A signal to pinfold is forwarded, then the program has its grace, then everything is killed; the result says
cancelled, and what the program made of it. Whenever a signal comes, nothing stays."""
import itertools
import os
import random
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from host import leftovers
from pf import *

MARK = f"signals-{os.getpid()}"
number_of_run = itertools.count()


def begin(*args, options=(), **popen):
    return start("run", *options, "--id", f"{MARK}-{next(number_of_run)}", "--env", f"MARK={MARK}", tiny(), "/bin/payload",
                 *args, **popen)


def cancelled(run, name, number):
    is_(run.status, "cancelled", f"{name}: cancelled", run)
    is_(run.evidence.get("signal"), signal.Signals(number).name[3:], f"{name}: by which signal", run)
    ok(run.code not in (0, 124, 125), f"{name}: the exit code is no success", run)


with begin("trap-term", "/scratch/trapped", "7", options=("--grace", "60s")) as running:
    is_(running.line(), "waiting", "a program that traps TERM is ready")
    running.signal(signal.SIGTERM)
    run = running.wait()
cancelled(run, "trapped TERM", signal.SIGTERM)
is_(run.result["exit"], {"code": 7, "signal": None}, "trapped TERM: the program ended in its own way", run)
like(run.out, rb"^trapped$", "trapped TERM: it had the time to write")
is_(run.evidence.get("grace"), None, "trapped TERM: the grace was not used up")

for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    with begin("await", int(number), ",", "exit", "3", options=("--grace", "60s")) as running:
        running.line()
        running.signal(number)
        run = running.wait()
    cancelled(run, number.name, number)
    is_((run.out, run.result["exit"]["code"]), (b"waiting\ngot %d\n" % number, 3), f"{number.name} is forwarded as it is", run)

with begin("ignore", "15", ",", "sleep", "600", options=("--grace", "100ms")) as running:
    running.line()
    running.signal(signal.SIGTERM)
    run = running.wait()
cancelled(run, "ignored TERM", signal.SIGTERM)
is_(run.evidence.get("grace"), "ended", "ignored TERM: killed after the grace", run)

with begin("ignore", "15", ",", "sleep", "600", options=("--grace", "0s")) as running:
    running.line()
    running.signal(signal.SIGTERM)
    run = running.wait()
cancelled(run, "no grace", signal.SIGTERM)

with begin("stop-self", options=("--grace", "100ms")) as running:
    running.line()
    running.signal(signal.SIGTERM)
    run = running.wait()
cancelled(run, "a stopped program", signal.SIGTERM)

# Those that the program may want, and that say nothing about us.
for number in (signal.SIGUSR1, signal.SIGUSR2):
    with begin("await", int(number), ",", "exit", "3") as running:
        running.line()
        running.signal(number)
        run = running.wait()
    is_((run.status, run.code), ("exited", 3), f"{number.name} is forwarded and ends nothing", run)
with begin("await", "10", ",", "exit", "3") as running:
    running.line()
    for number in (signal.SIGPIPE, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF, signal.SIGWINCH, signal.SIGCHLD,
                   signal.SIGTTOU, signal.SIGTTIN, signal.SIGIO, signal.SIGURG, signal.SIGCONT, signal.SIGPWR):
        running.signal(number)
    running.signal(signal.SIGUSR1)
    run = running.wait()
is_((run.status, run.code), ("exited", 3), "signals about nothing change nothing", run)

# At any moment. Before ours are blocked the default action ends pinfold: then there is no result, and no run.
seed = random.randrange(1 << 30)
diag(f"seed {seed}")
chance = random.Random(seed)
seen = {}
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT) * 8:
    with begin("setsid-daemon", ",", "sleep", "600", options=("--grace", "0s")) as running:
        time.sleep(chance.uniform(0, 0.03))
        running.signal(number)
        run = running.wait()
    kind = run.status or f"killed by {-run.code}"
    seen[kind] = seen.get(kind, 0) + 1
    if run.status not in ("cancelled", None) or (run.status is None and run.code != -number):
        ok(False, f"{number.name} at a random moment", run)
ok(set(seen) <= {"cancelled", "killed by 15", "killed by 2", "killed by 1", "killed by 3"}, "at random moments: cancelled, or not begun",
   str(seen))
diag(str(seen))
is_(leftovers(MARK), [], "nothing stays")
done()
