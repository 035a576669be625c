#!/usr/bin/python3
"""PR02, PR05, PR06, PR07, KI19: nothing that a program does keeps it alive, and it is told for what it was."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from attack import *
from pf import *

tree = probe_image()

with unharmed("a daemon"):
    run = do(tree, "survive")
    is_((run.status, run.code), ("exited", 0), "a daemon's parent ends the run", run)
with unharmed("a daemon of a run that is ended"):
    run = do(tree, "survive", flags=["--on-exit", "wait", "--wall", "300ms"])
    is_(run.status, "wall-timeout", "with --on-exit wait the limit ends the daemon", run)

for flags, refused in ([], 0 if SINGLE else 64), (["--uid", "0"], 0):
    with unharmed("signals to pid 1"):
        run = do(tree, "signal-init", flags=["--wall", "5s", *flags])
        # Where pid 1 has another id they are not even sent.
        is_((run.status, run.out), ("wall-timeout", b"refused %d\n" % refused),
            f"{' '.join(flags)} pid 1 does not notice 64 signals, the limit holds", run)
for verb, name in ("stop", "stopped processes"), ("trace-me", "a traced stop"):
    with unharmed(name):
        run = do(tree, verb, flags=["--wall", "500ms"])
        is_(run.status, "wall-timeout", f"{name}: still running until the limit", run)
        within(run.result["usage"]["wall_usec"], 500000, 60000000, f"{name}: and not before")
with unharmed("a traced stop without the filter"):
    run = do(tree, "trace-me", flags=["--wall", "3s", "--seccomp", allow_all()])
    is_((run.status, run.out), ("wall-timeout", b"traceme 0\n"), "a stop that wait() reports is no end", run)

with unharmed("a crash"):
    run = do(tree, "crash")
    is_((run.status, run.result["exit"]["signal"]), ("signaled", 11), "a crash is told by its signal", run)
    is_(run.result["usage"]["scratch_inodes"], 0, "and leaves no core file", run)
done()
