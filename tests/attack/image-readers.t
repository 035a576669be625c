#!/usr/bin/python3
"""FS22, FS23: a run cannot watch, hold or signal the other users of its image, nor speak to them through it."""
import fcntl
import os
import socket
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from attack import *
from pf import *

# flock and F_SETLK stay allowed: sqlite, cargo and others need them.
attack({"FS22.lease": "EPERM", "FS22.dnotify": "EPERM", "FS22.fanotify": "EPERM", "FS22.setown": "EPERM"})

# A skeleton over the image has inodes of its own: two runs see nothing of each other. A bound image is one tree for all its
# users (README: side channels), which serves as the control.
for form, targets in ("skeleton over the image", False), ("image bound", True):
    tree = probe_image(targets=targets)
    _, flags = mark_flags()
    with start("run", *flags, "--stdin", "-", tree, "/bin/probe", "FS22.inotify", stdin=subprocess.PIPE) as watcher:
        is_(watcher.line(), "ready", f"{form}: a run watches a file of the image")
        is_(do(tree, "cat", "/data/file").code, 0, f"{form}: and another reads it")
        run = watcher.wait(stdin=b"\n")
    like(run.out, rb"FS22.inotify reached 0" if targets else rb"FS22.inotify blocked EAGAIN",
         f"{form}: {'the first sees that' if targets else 'the first sees nothing'}")

# Somebody of the host listens on a socket of the tree, reads a FIFO and holds a lock there.
ROWS = ["FS23.socket", "FS23.fifo", "FS23.flock"]
for form, targets in ("skeleton over the image", False), ("image bound", True):
    tree = probe_image({"data/locked": b"x"}, targets=targets)
    with socket.socket(socket.AF_UNIX) as listener, open(os.path.join(tree, "data/locked"), "rb") as locked:
        listener.bind(os.path.join(tree, "data/socket"))
        listener.listen(4)
        os.chmod(os.path.join(tree, "data/socket"), 0o777)
        os.mkfifo(os.path.join(tree, "data/fifo"))
        os.chmod(os.path.join(tree, "data/fifo"), 0o666)
        reader = os.open(os.path.join(tree, "data/fifo"), os.O_RDONLY | os.O_NONBLOCK)
        fcntl.flock(locked, fcntl.LOCK_EX)
        with unharmed(form):
            outcomes, run = strong(tree, ROWS)
        if targets:
            # A bound tree is the tree itself: these three are known channels, so no image may have others' sockets in it.
            diag(f"{form}: {outcomes}")
        else:
            is_([outcomes.get(row) for row in ROWS], [("blocked", "ECONNREFUSED"), ("blocked", "ENXIO"), ("reached", "0")],
                f"{form}: the socket, the FIFO and the lock are the sandbox's own", run)
            is_(os.read(reader, 16), b"", f"{form}: nothing came out of the FIFO")
        os.close(reader)
done()
