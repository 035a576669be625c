#!/usr/bin/python3
"""scan has colours on a terminal alone, and none with NO_COLOR or a dumb one."""
import os
import pty
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *
from scans import *

where = tree({"a.py": b"eval(x)\n"})
scan_text(where)


def on_terminal(**env):
    master, slave = pty.openpty()
    with start("scan", where, stdout=slave, env=env) as running:
        os.close(slave)
        out = b""
        while True:
            try:
                piece = os.read(master, 4096)
            except OSError:
                break
            if not piece:
                break
            out += piece
        code = running.process.wait(60)
    os.close(master)
    return code, out


code, out = on_terminal(TERM="xterm")
is_(code, 1, "control: it was scanned")
ok(b"\033[31merror\033[0m" in out, "an error is red on a terminal", out)
for name, env in ("NO_COLOR", {"TERM": "xterm", "NO_COLOR": "1"}), ("TERM=dumb", {"TERM": "dumb"}):
    code, out = on_terminal(**env)
    is_((code, b"\033" in out, b"eval" in out), (1, False, True), f"none with {name}", out)
ok(b"\033[31m" in on_terminal(TERM="xterm", NO_COLOR="")[1], "an empty NO_COLOR says nothing")
done()
