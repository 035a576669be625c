#!/usr/bin/python3
"""A connection for which there is no place is reset and counted, in whatever moment it comes."""
import os
import signal
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet, own
from host import broker_of, init_of, stop
from pf import *

# All places but one are taken. While the parser is stopped two are given back and two are asked for by turns, so that
# it sees all of it in one round, in which a place that was given back is not free yet.
CROWD = """
import socket, struct, sys
def dial(port):
    s = socket.create_connection(("198.18.1.0", port), 60); s.settimeout(60); return s
def port(s): return s.getsockname()[1]
def reset(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)); s.close()
busy = [dial(9000) for i in range(256)]
for s in busy: s.recv(1)
waiting = [dial(9000) for i in range(63)]
for i in range(100): socket.gethostbyname("mute.example") # an answer a round, and in each one is accepted
print("full", flush=True); sys.stdin.readline()
given = [port(s) for s in busy[-2:]]
reset(busy.pop()); first = dial(9000); reset(busy.pop()); second = dial(9001)
print(*given, port(first), port(second), flush=True); second.settimeout(20)
try: print("got", second.recv(1), flush=True)
except OSError as e: print("got", e.errno, flush=True)
"""


def greet(connection, _):
    connection.sendall(b"x")
    hold.wait(60)


hold = threading.Event()


def connected(pid):
    """The program's ports that the sandbox's kernel holds a connection of for the broker, whoever has seen it."""
    with open(f"/proc/{pid}/net/tcp", encoding="ascii") as four, open(f"/proc/{pid}/net/tcp6", encoding="ascii") as six:
        rows = [line.split()[1:4] for line in four.readlines()[1:] + six.readlines()[1:]]
    return {int(there.split(":")[1], 16) for here, there, state in rows if int(here.split(":")[1], 16) in (9000, 9001) and state == "01"}


def attempt(net):
    """What the second is told, and the run."""
    hold.clear()
    with net.start("run", "--allow", "tcp:mute.example:9000-9001", "--egress-connections", "256", "--egress-connect-timeout", "60s", "--nofile", "1024",
                   "--id", own("crowd"), "--stdin", "-", "@host", "/usr/bin/python3", "-c", CROWD, stdin=subprocess.PIPE) as running:
        is_(running.line(), "full", "all places are taken but one")
        parser = broker_of(own("crowd"))[1]
        stop(parser)
        try:
            running.process.stdin.write(b"\n")
            running.process.stdin.flush()
            *given, first, second = map(int, running.line().split())
            # A machine that is busy delivers it all a while later, each processor on its own.
            inside = init_of(own("crowd"))
            wait_for(lambda: connected(inside) & {*given, first, second} == {first, second}, what="two that are given back, and two that are asked for")
        finally:
            os.kill(parser, signal.SIGCONT)
        told = running.line()
        hold.set()
        return told, running.wait()


with Internet() as net:
    net.dns.names["mute.example"] = ["93.184.216.26"]
    for port in (9000, 9001):
        net.listen("93.184.216.26", port, greet)
    told, run = attempt(net)
    is_(told, "got 104", "who comes in the same moment is reset", run)
    is_([(row["verdict"], row["count"]) for row in run.result["egress"] if row["reason"] == "too many connections at once"], [("denied", 1)], "and counted", run)
done()
