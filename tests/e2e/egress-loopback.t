#!/usr/bin/python3
"""Egress without any network but the host's loopback, so that an ordinary user can decide it too: what private:127.0.0.1:PORT
opens works by TCP and UDP, nothing else does."""
import contextlib
import os
import socket
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from host import canary_listener
from pf import *

PROGRAM = r"""
import errno, socket, sys
port, udp, other = map(int, sys.argv[1:])
def attempt(address, port):
    try:
        with socket.create_connection((address, port), 5) as s:
            s.sendall(b"x" * 300000); s.shutdown(socket.SHUT_WR); n = 0
            while data := s.recv(65536): n += len(data)
            return n
    except OSError as e:
        # A reset shows in whichever call comes next: sending, shutting down or receiving.
        if e.errno in (errno.ECONNRESET, errno.EPIPE, errno.ENOTCONN): return "reset"
        return errno.errorcode.get(e.errno, "unknown name")
print(attempt("127.0.0.1", port), attempt("127.0.0.1", other), attempt("127.0.0.2", port), attempt("192.0.2.1", port), attempt("evil.example", port))
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(30); s.sendto(b"ask", ("127.0.0.1", udp)); print(s.recv(9))
"""


def echo(server):
    with contextlib.suppress(OSError):  # closed: the test is over
        while True:
            connection, _ = server.accept()
            with connection:
                while data := connection.recv(65536):
                    connection.sendall(data)


def echo_datagrams(server):
    with contextlib.suppress(OSError):
        while True:
            data, peer = server.recvfrom(65536)
            server.sendto(b"re:" + data, peer)


with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp, canary_listener() as (canary, hits):
    udp.bind(("127.0.0.1", 0))
    threading.Thread(target=echo, args=(tcp,), daemon=True).start()
    threading.Thread(target=echo_datagrams, args=(udp,), daemon=True).start()
    ports = tcp.getsockname()[1], udp.getsockname()[1], canary[1]
    run = pinfold("run", "--require", "egress", "--allow", f"private:127.0.0.1:{ports[0]}", "--allow", f"private:udp:127.0.0.1:{ports[1]}",
                  "@host", "/usr/bin/python3", "-c", PROGRAM, *ports)
is_((run.status, run.code), ("exited", 0), "the program ends well", run)
is_(run.out.decode().splitlines(), ["300000 ECONNREFUSED reset ENETUNREACH unknown name", "b're:ask'"],
    "the two ports of the host are there, another is not, nor another address, nor a name", run)
is_(hits, [], "the host's other listener was not reached")
rows = {(row["transport"], row["name"] or row["address"], row["verdict"]): (row["sent_bytes"], row["received_bytes"]) for row in run.result["egress"]}
is_(rows, {("tcp", "127.0.0.1", "allowed"): (300000, 300000), ("tcp", "127.0.0.2", "denied"): (0, 0), ("dns", "evil.example", "denied"): (0, 0),
           ("udp", "127.0.0.1", "allowed"): (3, 6)}, "and the result has each", run)
done()
