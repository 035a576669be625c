#!/usr/bin/python3
"""The program has descriptors 0, 1 and 2 and no other, whatever the caller left open."""
import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

folder = tmpdir()
secret = os.path.join(folder, "secret")
with open(secret, "w", encoding="ascii") as file:
    file.write("canary\n")
os.chmod(secret, 0o644)

kept = [os.open(secret, os.O_RDONLY), os.open("/", os.O_PATH), os.open(folder, os.O_RDONLY | os.O_DIRECTORY),
        os.memfd_create("canary"), *os.pipe(), *(s.detach() for s in socket.socketpair())]
high = [os.dup2(n, 300 + i) for i, n in enumerate(kept)]


def inherit():
    """In the child, after subprocess made its own arrangements: every number below 251 is one of ours."""
    for fd in range(3, 251):
        try:
            os.fstat(fd)
        except OSError:
            os.dup2(high[fd % len(high)], fd)


def open_inside(*args):
    # close_fds=False and inheritable: what a careless caller does.
    for fd in high:
        os.set_inheritable(fd, True)
    run = pinfold("run", *args, tiny(), "/bin/payload", "fds", close_fds=False, preexec_fn=inherit)
    is_(run.status, "exited", "it runs", run)
    return run, [int(line.split()[1]) for line in run.out.decode().splitlines()]


run, seen = open_inside()
is_(seen, [0, 1, 2], "0, 1 and 2 are all there is", run)
unlike(run.out, rb"canary|secret|" + folder.encode(), "and none leads to a file of the caller")
run, seen = open_inside("--tty")
is_(seen, [0, 1, 2], "with --tty too", run)

# The filter's listener needs a number too while the program starts.
run, seen = open_inside("--nofile", "4")
is_(seen, [0, 1, 2], "with the lowest --nofile too", run)

run = pinfold("run", tiny(), "/bin/payload", "open", "r", *(f"/proc/self/fd/{n}" for n in range(3, 40)))
is_(run.out.decode().count(" ENOENT\n"), 37, "/proc/self/fd has nothing from 3 on", run)
done()
