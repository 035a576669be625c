#!/usr/bin/python3
"""--idle ends a run in which no byte moved on stdin, stdout or stderr for so long, with status idle-timeout and code
124; a byte on any of them starts the time anew."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

run = pinfold("run", "--idle", "300ms", tiny(), "/bin/payload", "sleep", "600")
is_((run.status, run.code, run.result["cause"]["limit"]), ("idle-timeout", 124, "idle"), "silence: idle-timeout, 124", run)
within(run.result["usage"]["wall_usec"], 300_000, 30_000_000, "not before its time")
run = pinfold("run", "--idle", "300ms", tiny(), "/bin/payload", "burn", "600")
is_(run.status, "idle-timeout", "a busy program is silent all the same", run)
run = pinfold("run", "--idle", "2s", tiny(), "/bin/payload", "echo", "one", ",", "sleep", "600")
is_((run.status, run.out), ("idle-timeout", b"one\n"), "silence after a byte", run)
run = pinfold("run", "--idle", "50s", "--stdin", "-", tiny(), "/bin/payload", "cat", stdin=b"one\n")
is_((run.status, run.out), ("exited", b"one\n"), "who ends is not idle", run)

# Longer than the limit in all, with pauses far below it.
run = pinfold("run", "--idle", "4s", tiny(), "/bin/payload", "tick", "30", "0.2", ",", "exit", "3")
is_((run.status, run.code), ("exited", 3), "a line now and then on stdout: exited", run)
with start("run", "--idle", "4s", "--stdin", "-", tiny(), "/bin/payload", "cat", stdin=-1) as running:
    for _ in range(20):
        running.process.stdin.write(b"a\n")
        running.process.stdin.flush()
        running.line()
        time.sleep(0.25)  # the pause is what is tested
    run = running.wait(stdin=b"")
is_((run.status, run.out), ("exited", b"a\n" * 20), "a line now and then on stdin: exited", run)
within(run.result["usage"]["wall_usec"], 4_000_000, 60_000_000, "although it took longer than the limit")
run = pinfold("run", "--idle", "none", tiny(), "/bin/payload", "exit", "3")
is_((run.status, run.code), ("exited", 3), "--idle none", run)
done()
