#!/usr/bin/python3
"""A connection for which there is no place is reset and counted, in whatever moment it comes."""
import os
import signal
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet, own
from host import broker_of, stop
from pf import *

# All places but one are taken. While the parser is stopped two are given back and two are asked for by turns, so that
# it sees all of it in one round, in which a place that was given back is not free yet.
CROWD = """
import socket, struct, sys
def dial(port):
    s = socket.create_connection(("198.18.1.0", port), 20); s.settimeout(20); return s
def reset(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)); s.close()
busy = [dial(9000) for i in range(256)]
for s in busy: s.recv(1)
waiting = [dial(9000) for i in range(63)]
for i in range(100): socket.gethostbyname("mute.example") # an answer a round, and in each one is accepted
print("full", flush=True); sys.stdin.readline()
reset(busy.pop()); first = dial(9000); reset(busy.pop()); second = dial(9001)
print("asked", flush=True); second.settimeout(3)
try: print("got", second.recv(1), flush=True)
except OSError as e: print("got", e.errno, flush=True)
"""


def greet(connection, _):
    connection.sendall(b"x")
    hold.wait(60)


hold = threading.Event()


def attempt(net):
    """What the second is told, and the run. A kernel may show the parser all of it in two rounds, in the second of which
    there is a place: then it is served or waits, and this was not the moment."""
    hold.clear()
    with net.start("run", "--allow", "tcp:mute.example:9000-9001", "--egress-connections", "256", "--egress-connect-timeout", "60s", "--nofile", "1024",
                   "--id", own("crowd"), "@host", "/usr/bin/python3", "-c", CROWD, stdin=subprocess.PIPE) as running:
        is_(running.line(), "full", "all places are taken but one")
        parser = broker_of(own("crowd"))[1]
        stop(parser)
        try:
            running.process.stdin.write(b"\n")
            running.process.stdin.flush()
            is_(running.line(), "asked", "two are given back, and two are asked for")
        finally:
            os.kill(parser, signal.SIGCONT)
        told = running.line()
        hold.set()
        return told, running.wait()


with Internet() as net:
    net.dns.names["mute.example"] = ["93.184.216.26"]
    for port in (9000, 9001):
        net.listen("93.184.216.26", port, greet)
    for _ in range(12):
        told, run = attempt(net)
        if told not in ("got b'x'", "got None"):
            break
    is_(told, "got 104", "who comes in the same moment is reset", run)
    is_([(row["verdict"], row["count"]) for row in run.result["egress"] if row["reason"] == "too many connections at once"], [("denied", 1)], "and counted", run)
done()
