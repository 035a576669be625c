#!/usr/bin/python3
"""A supervisor that is held up, so that what the egress broker tells it finds no room, gets each row all the same, and in its order."""
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet
from host import stop
from pf import *

BEFORE, BEHIND = 110, 17  # the socket's buffer takes fewer than the first; together fewer than there are rows for denials
TRY = f"""
import socket
server = socket.create_connection(("server.example", 9000))
def tell(what): server.sendall(what); server.recv(1)
def denied(some):
    for i in some:
        try:
            with socket.create_connection((f"198.19.0.{{i}}", 9000)) as s: s.recv(1)
        except OSError: pass
tell(b"s")
denied(range({BEFORE}))
tell(b"c")
denied(range({BEFORE}, {BEFORE + BEHIND}))
"""


def hold(connection, _):
    """The program says when the supervisor is to stop, and when to go on: the one that it runs under cannot be in its way."""
    while what := connection.recv(1):
        if what == b"s":
            stop(running.pid)
        else:
            running.signal(signal.SIGCONT)
        connection.sendall(what)


with Internet() as net:
    net.dns.names["server.example"] = ["93.184.216.24"]
    net.listen("93.184.216.24", 9000, hold)
    with net.start("run", "--allow", "server.example:9000", "@host", "/usr/bin/python3", "-S", "-c", TRY) as running:
        run = running.wait()
    is_((run.status, run.code, [w for w in run.result["warnings"] if "broker" in w]), ("exited", 0, []), "the broker is not ended", run)
    is_([(row["address"], row["count"]) for row in run.result["egress"] if row["verdict"] == "denied"], [(f"198.19.0.{i}", 1) for i in range(BEFORE + BEHIND)],
        "each denied address has its row, in the order of the attempts", run)
    is_([(row["name"], row["sent_bytes"]) for row in run.result["egress"] if row["verdict"] == "allowed"], [("server.example", 2)], "and so has what was allowed", run)
done()
