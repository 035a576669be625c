#!/usr/bin/python3
"""When `pinfold run` returns, nothing of the run lives: no process in whatever disguise, no mount, no cgroup, no file.
It returns when the main process has ended, whoever holds its output open."""
import itertools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from host import leftovers, tree
from pf import *

MARK = f"survivor-{os.getpid()}"
LONG = "600"
folder = tmpdir()
before = tree(folder), tree(tiny())
number = itertools.count()


def check(name, verbs, want, options=()):
    run = pinfold("run", "--id", f"{MARK}-{next(number)}", "--env", f"MARK={MARK}", *options, tiny(), "/bin/payload", *verbs,
                  cwd=folder)
    left = leftovers(MARK)  # at once: nothing is given time to go
    is_((run.status, run.code), want, f"{name}: {want[0]}", run)
    is_(left, [], f"{name}: no process, socket, cgroup or mount")
    return run


check("a daemon", ["setsid-daemon", ",", "exit", "3"], ("exited", 3))
check("ten daemons", ["setsid-daemon", "x", ","] * 10 + ["exit", "0"], ("exited", 0))
run = check("a held stdout", ["bg", "sleep", LONG, ",", "echo", "hi"], ("exited", 0))
is_(run.out, b"hi\n", "a held stdout: what was written is there", run)
run = check("a background writer", ["bg", "tick", "100000", "0.01", ",", "exit", "0"], ("exited", 0))
check("a signal", ["setsid-daemon", ",", "bg", "sleep", LONG, ",", "signal", "11"], ("signaled", 139))
check("the wall limit", ["setsid-daemon", ",", "sleep", LONG], ("wall-timeout", 124), ("--wall", "200ms"))
check("the wall limit, TERM ignored", ["ignore", "15", "2", "1", ",", "bg", "sleep", LONG, ",", "sleep", LONG],
      ("wall-timeout", 124), ("--wall", "200ms"))
check("a chain of forks", ["fork-chain", "0.2"], ("exited", 0), ("--pids", "32"))
check("a chain of forks, wall limit", ["fork-chain", LONG], ("wall-timeout", 124), ("--pids", "32", "--wall", "300ms"))
check("a fork bomb", ["fork-bomb", "1000"], ("exited", 1), ("--pids", "64"))
check("threads", ["threads", "40", ",", "exit", "0"], ("exited", 0), ("--pids", "64"))
check("stopped processes", ["bg", "stop-self", ",", "bg", "stop-self", ",", "exit", "0"], ("exited", 0))
check("zombies", ["zombies", "20", ",", "exit", "0"], ("exited", 0))
check("no command", [], ("exited", 99))
check("the output limit", ["setsid-daemon", ",", "spam", "stdout", "100K", ",", "sleep", LONG], ("output-limit", 124),
      ("--output", "1K"))
check("a scratch full of files", ["files", "1000", "/tmp", ",", "mkdir", "/scratch/closed", "0", ",", "tmpfs", "4M", ",", "exit", "0"],
      ("exited", 0))

# --on-exit wait: the main process may end first, and the limits go on to count.
run = check("--on-exit wait", ["bg", "tick", "5", "0.02", ",", "exit", "4"], ("exited", 4), ("--on-exit", "wait"))
is_(run.out, b"".join(b"tick %d\n" % i for i in range(5)), "--on-exit wait: the background process ended in peace", run)
run = check("--on-exit wait, wall limit", ["bg", "sleep", LONG, ",", "exit", "4"], ("wall-timeout", 124),
            ("--on-exit", "wait", "--wall", "3s"))
is_(run.result["exit"]["code"], 4, "--on-exit wait: the main process's code is told all the same", run)
is_((tree(folder), tree(tiny())), before, "no file, neither in the image nor in the caller's folder")
done()
