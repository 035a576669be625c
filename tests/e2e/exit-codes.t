#!/usr/bin/python3
"""The program's own end comes through untouched, and no failure of ours can be mistaken for it: the document
tells them apart whatever the exit code."""
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

for code in (0, 1, 2, 124, 125, 126, 127, 128, 137, 255):
    run = pinfold("run", tiny(), "/bin/payload", "exit", code)
    want = ("exited", code, {"code": code, "signal": None}, code == 0)
    is_((run.status, run.code, run.result["exit"], run.result["ok"]), want, f"exit {code}", run)

# Those whose default action ends a process (signal(7)).
ending = [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGILL, signal.SIGTRAP, signal.SIGABRT, signal.SIGBUS,
          signal.SIGFPE, signal.SIGKILL, signal.SIGUSR1, signal.SIGSEGV, signal.SIGUSR2, signal.SIGPIPE,
          signal.SIGALRM, signal.SIGTERM, signal.SIGXCPU, signal.SIGXFSZ, signal.SIGVTALRM, signal.SIGPROF,
          signal.SIGIO, signal.SIGPWR, signal.SIGSYS, signal.SIGRTMIN, signal.SIGRTMAX]
for number in map(int, ending):
    run = pinfold("run", tiny(), "/bin/payload", "signal", number)
    want = ("signaled", 128 + number, {"code": None, "signal": number}, False)
    is_((run.status, run.code, run.result["exit"], run.result["ok"]), want, f"signal {number}", run)

for number in map(int, (signal.SIGCHLD, signal.SIGURG, signal.SIGWINCH, signal.SIGCONT)):
    run = pinfold("run", tiny(), "/bin/payload", "signal", number, ",", "exit", "9")
    is_((run.status, run.code), ("exited", 9), f"signal {number} ends nothing", run)

# The same numbers, from us.
failures = {
    "refused": (125, ["--workdir", "/nowhere", tiny(), "/bin/payload", "exit", "125"]),
    "exec-failed": (127, [tiny(), "/bin/nothing"]),
}
for status, (code, args) in failures.items():
    run = pinfold("run", *args)
    is_((run.status, run.code, run.result["ok"]), (status, code, False), f"{status} is {code}", run)
    is_(run.result["exit"], {"code": None, "signal": None}, f"{status}: no exit of the program")
    ok(run.result["cause"]["message"], f"{status}: says why")
run = pinfold("run", tiny(), "/bin/payload", "exit", "125")
ok(run.result["cause"]["message"] is None and run.result["cause"]["stage"] is None, "a program's 125 has no cause", run)
done()
