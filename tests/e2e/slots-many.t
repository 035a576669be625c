#!/usr/bin/python3
"""Waiting for a slot costs nothing: a crowd that waits uses no processor time, and the end of a holder wakes one of it."""
import atexit
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

CROWD = 200
payload = [tiny(), "/bin/payload"]
ENV = {"XDG_RUNTIME_DIR": tmpdir(mode=0o700)}
slots = f"1:crowd-{os.getpid()}"
FILE = f"/run/pinfold/slots-crowd-{os.getpid()}"
atexit.register(lambda: os.path.exists(FILE) and os.unlink(FILE))


def waits(pid):
    """Whether it sleeps in poll, and how often it has been woken."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    return status["State"].startswith("S"), int(status["voluntary_ctxt_switches"])


def hold():
    running = start("run", "--slots", slots, *payload, "await", "10", ",", "exit", "0", env=ENV)
    running.line()
    return running


crowd = []
try:
    with hold() as first:
        for _ in range(CROWD):
            crowd.append(start("run", "--slots", slots, *payload, "await", "10", result=False, env=ENV))
            crowd[-1].process.stderr.readline()  # "waiting for a slot": the next one stands behind it
        wait_for(lambda: all(waits(r.pid)[0] for r in crowd), what="the sleep of all")
        before = {r.pid: waits(r.pid)[1] for r in crowd}
        first.signal(signal.SIGUSR1)
        first.wait()
        turn = crowd[0]
        is_(turn.line(), "waiting", "the first in line has its turn")
        woken = [r for r in crowd if r is not turn and waits(r.pid)[1] != before[r.pid]]
        ok(len(woken) <= 1, "one end wakes the first in line, and that the one behind it; the others sleep on", str(len(woken)))
        with open(f"/proc/{crowd[-1].pid}/stat", encoding="utf-8") as file:
            ticks = sum(map(int, file.read().rpartition(")")[2].split()[11:13]))
        ok(ticks <= 3, "the last has used less than 30 ms of processor time in all", str(ticks))
finally:
    for running in reversed(crowd):
        running.signal(signal.SIGTERM)
    for running in crowd:
        running.process.wait()
        running.__exit__(None, None, None)
is_({r.process.returncode for r in crowd}, {128 + signal.SIGTERM}, "all of them end as cancelled")
run = pinfold("run", "--slots", slots, "--queue", "0s", *payload, "exit", "3", env=ENV)
is_(run.code, 3, "and the slot is free", run)
done()
