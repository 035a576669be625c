#!/usr/bin/python3
"""The program can neither end nor stop pid 1 of its sandbox, and its limits go on to count."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

storm = []
for number in range(1, 65):
    storm += ["bg", "kill", "1", number, ","]
storm += ["kill", "-1", "18", ","]

run = pinfold("run", "--on-exit", "wait", tiny(), "/bin/payload", *storm, "exit", "5")
is_((run.status, run.code), ("exited", 5), "every signal to pid 1, and the program ends by itself", run)
tried = run.out.decode().count("killed\n") + run.out.decode().count("error kill EPERM\n")
within(tried, 60, 65, "each was sent, or refused")

run = pinfold("run", "--wall", "1s", tiny(), "/bin/payload", *storm, "sleep", "600")
is_((run.status, run.code), ("wall-timeout", 124), "the wall limit holds after it", run)

# PR06: stopped is not hung. Everything that can be stopped is.
run = pinfold("run", "--wall", "500ms", tiny(), "/bin/payload", "bg", "sleep", "600", ",", "kill", "-1", "19", ",", "stop-self")
is_((run.status, run.code), ("wall-timeout", 124), "a program that stopped itself and its siblings: wall-timeout", run)
is_(run.result["exit"], {"code": None, "signal": None}, "and it did not end by itself", run)

# PR07: a stop that wait(2) reports is no end.
run = pinfold("run", "--wall", "500ms", tiny(), "/bin/payload", "ptrace-stop")
is_((run.status, run.code), ("wall-timeout", 124), "a tracee that stops has not ended: wall-timeout", run)
run = pinfold("run", "--wall", "500ms", tiny(), "/bin/payload", "stop-self")
is_((run.status, run.code), ("wall-timeout", 124), "a program that stops has not ended: wall-timeout", run)
done()
