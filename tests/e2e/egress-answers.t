#!/usr/bin/python3
"""A server is heard when it answers late, when it answers early and resets, and when half of its name is not told."""
import os
import signal
import socket
import struct
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet, own
from host import broker_of, stop
from pf import *

LATE = 11  # seconds: more than looking at the first bytes, or the name servers and connecting, may take
TOLD = b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n"
CLIENT = """
import socket, sys, ssl, errno
s = socket.create_connection((sys.argv[1], int(sys.argv[2])), 60); s.settimeout(60)
if sys.argv[2] == "443":
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = ssl.create_default_context().wrap_bio(back, there, server_hostname=sys.argv[1])
    try: tls.do_handshake()
    except ssl.SSLWantReadError: s.sendall(there.read())
if sys.argv[2] == "80": s.sendall(b"POST / HTTP/1.1\\r\\nHost: %s\\r\\nContent-Length: 9\\r\\n\\r\\n" % sys.argv[1].encode())
print("asked", flush=True)
try:
    while data := s.recv(1000): print(data, flush=True)
    print("end")
except OSError as e: print(errno.errorcode[e.errno])
"""


def late(connection, _):
    connection.settimeout(LATE)
    try:
        while connection.recv(65536):
            pass
    except TimeoutError:
        connection.sendall(b"late")


with Internet() as net:
    for name, address in (("late.example", "93.184.216.10"), ("early.example", "93.184.216.11"), ("half.example", "93.184.216.12")):
        net.dns.names[name] = [address]
    net.listen("93.184.216.10", 9000, late)
    net.listen("93.184.216.10", 443, late)
    net.listen("93.184.216.12", 9000, lambda connection, _: connection.sendall(b"here"))
    net.dns.silent.add(("half.example", 28))
    asked, stopped, told = threading.Event(), threading.Event(), threading.Event()

    def early(connection, _):
        """Answers the head, and resets: all of it while the broker looks elsewhere."""
        connection.recv(1000)
        asked.set()
        stopped.wait(60)
        connection.sendall(TOLD)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
        told.set()
    net.listen("93.184.216.11", 80, early)

    def begin(mark, *words):
        return net.start("run", "--id", mark, "--allow", "late.example:9000,443", "--allow", "early.example:80",
                         "--allow", "half.example:9000", "@host", "/usr/bin/python3", "-c", CLIENT, *words)

    with begin(own("late"), "late.example", "9000") as plain, begin(own("tls"), "late.example", "443") as tls, \
            begin(own("early"), "early.example", "80") as running, begin(own("half"), "half.example", "9000") as half:
        is_(running.line(), "asked", "a program asks")
        ok(asked.wait(60), "and the server sees it")
        _, parser, _ = broker_of(own("early"))
        stop(parser)
        stopped.set()
        ok(told.wait(60), "it answers and resets in one breath")
        os.kill(parser, signal.SIGCONT)
        is_(running.line(), repr(TOLD), "the answer arrives")
        run = running.wait()
        is_(run.out.splitlines()[-1], b"ECONNRESET", "and the reset behind it", run)
        is_(run.result["egress"][0]["received_bytes"], len(TOLD), "it is counted", run)
        run = half.wait()
        is_(run.out.splitlines(), [b"asked", b"b'here'", b"end"], "a name whose AAAA no name server ever answers has its A", run)
        for waiting, what in ((plain, "that is relayed as it is"), (tls, "behind a ClientHello")):
            run = waiting.wait()
            is_(run.out.splitlines(), [b"asked", b"b'late'", b"end"], f"a first byte after {LATE} s, on a port {what}", run)
            is_((run.result["egress"][0]["verdict"], run.result["egress"][0]["reason"]), ("allowed", None), "is no time-out", run)
done()
