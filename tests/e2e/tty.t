#!/usr/bin/python3
"""--tty gives the program a terminal of its own, joined to the caller's: size and resize come through, keys arrive as
keys and signals, and the caller's terminal is afterwards what it was."""
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *
from terminal import Terminal

payload = [tiny(), "/bin/payload"]

with Terminal(rows=31, columns=97) as t:
    before = t.settings()
    with t.start("run", "--tty", *payload, "tty", ",", "exit", "3") as running:
        run = running.wait()
    out = t.rest()
    is_((run.status, run.code), ("exited", 3), "it runs on a terminal", run)
    like(out, r"^isatty 0 1\nisatty 1 1\nisatty 2 1\n", "0, 1 and 2 are one")
    like(out, r"^size 31 97\n", "of the caller's size")
    like(out, r"^ctty yes\n", "and the program controls it")
    like(out, r"^session (\d+) pgrp \1 foreground \1\n", "as leader of a session in the foreground")
    is_(t.settings(), before, "the caller's terminal is as it was")
    is_(run.result["output"]["stderr"], None, "there is one stream, not two")
    ok(run.result["output"]["stdout"]["bytes"] > 0, "and it is counted")

with Terminal() as t:
    with t.start("run", "--tty", *payload, "await", "28", ",", "tty") as running:
        t.expect(r"^waiting$")
        ok(t.settings() != before, "while it runs the caller's terminal is raw")
        t.resize(50, 132)
        ok(t.expect(r"^got 28$"), "a resize arrives as SIGWINCH")
        ok(t.expect(r"^size 50 132$"), "with the new size")
        run = running.wait()
    is_(run.status, "exited", "exited", run)

# Keys. The caller's terminal is raw, so they are for the program's terminal to make signals of.
for key, number in (b"\x03", signal.SIGINT), (b"\x1c", signal.SIGQUIT):
    with Terminal() as t:
        with t.start("run", "--tty", *payload, "await", int(number), ",", "exit", "5") as running:
            t.expect(r"^waiting$")
            t.type(key)
            ok(t.expect(rf"got {int(number)}$"), f"the key for {number.name} is a signal to the program")
            run = running.wait()
        is_((run.status, run.code), ("exited", 5), f"and {number.name} nothing to pinfold", run)
        is_(t.settings(), before, "the terminal is restored")
with Terminal() as t:
    with t.start("run", "--tty", *payload, "cat") as running:
        t.type(b"hello\n")
        ok(t.expect(r"^hello\nhello$"), "a line is echoed once, and comes back")
        t.type(b"\x04")
        run = running.wait()
    is_((run.status, run.code), ("exited", 0), "the key for end of file ends cat", run)
with Terminal() as t:
    with t.start("run", "--tty", *payload, "echo", "ready", ",", "sleep", "600") as running:
        t.expect(r"^ready$")
        running.signal(signal.SIGTERM)
        run = running.wait()
    is_((run.status, t.settings()), ("cancelled", before), "TERM: cancelled, and the terminal restored", run)
with Terminal() as t:
    with t.start("run", "--tty", "--grace", "100ms", *payload, "ignore", "1", ",", "sleep", "600") as running:
        t.expect(r"^ignoring$")
        t.hang_up()
        run = running.wait()
    is_(run.status, "cancelled", "the terminal hangs up: cancelled", run)

# --tty where the caller has none.
run = pinfold("run", "--tty", *payload, "tty", ",", "exit", "3")
is_((run.status, run.code), ("exited", 3), "without a terminal of the caller: it runs", run)
like(run.out, rb"^isatty 0 1\r\nisatty 1 1\r\n", "on a terminal all the same")
run = pinfold("run", "--tty", *payload, "cat", stdin=b"one\ntwo\n")
is_((run.status, run.code), ("exited", 0), "a piped stdin ends as a key for end of file", run)
like(run.out, rb"one\r\ntwo\r\n\Z", "and arrives whole")
run = pinfold("run", "--tty", "--stdin", "/etc/hostname", *payload, "cat")
is_((run.status, run.code), ("refused", 125), "a file as stdin is refused", run)
done()
