#!/usr/bin/python3
"""A half of the broker that does not end of itself is ended: with the run, and with pinfold."""
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet
from host import broker_of
from pf import *

MARK = f"stuck-{os.getpid()}"


def gone(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


with Internet() as net:
    for half, what in enumerate(("dialer", "parser", "resolver")):
        for how in ("ends", "killed"):
            mark = f"{MARK}-{what}-{how}"
            with net.start("run", "--id", mark, "--allow", "web.example:443", "--stdin", "-", "@host", "/bin/sh", "-c", "echo begun; read line",
                           stdin=subprocess.PIPE) as running:
                is_(running.line(), "begun", f"the {what} is stopped while the program runs")
                pids = broker_of(mark)
                try:
                    os.kill(pids[half], signal.SIGSTOP)
                    if how == "killed":
                        running.signal(signal.SIGKILL)
                    else:
                        run = running.wait(20, b"\n")
                        is_((run.status, run.code), ("exited", 0), "the run ends all the same", run)
                    wait_for(lambda: all(map(gone, pids)), what=f"that all of it is gone, with a run that {how}")
                    ok(True, "and nothing of the broker is left")
                finally:
                    for pid in pids:
                        if not gone(pid):
                            os.kill(pid, signal.SIGKILL)
done()
