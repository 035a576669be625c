#!/usr/bin/python3
"""Bytes cross as they are, both ways and to their end: half-close, reset, errno, back-pressure, both families."""
import hashlib
import os
import socket
import struct
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet, echo
from pf import *

SIZE = 32 << 20


def pour(connection, _):
    """SIZE bytes of a known pattern, then the end."""
    block = bytes(range(256)) * 256
    for _ in range(SIZE // len(block)):
        connection.sendall(block)


def digest(connection, _):
    """Hash until the end, then say it: needs a half-close."""
    sha = hashlib.sha256()
    while data := connection.recv(1 << 16):
        sha.update(data)
    connection.sendall(sha.hexdigest().encode())


def reset(connection, _):
    connection.recv(1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


PATTERN = hashlib.sha256(bytes(range(256)) * 256 * (SIZE >> 16)).hexdigest()
with Internet() as net:
    for name, addresses in (("pour.example", ["93.184.216.20"]), ("digest.example", ["93.184.216.21"]),
                            ("reset.example", ["93.184.216.22"]), ("refuse.example", ["93.184.216.23"]),
                            ("six.example", ["2606:2800:220:1::20"]), ("both.example", ["2606:2800:220:1::66", "93.184.216.24"]),
                            ("echo.example", ["93.184.216.24"]), ("sink.example", ["93.184.216.25"])):
        net.dns.names[name] = addresses
    net.listen("93.184.216.20", 9000, pour)
    net.listen("93.184.216.21", 9000, digest)
    net.listen("93.184.216.22", 9000, reset)
    net.address("93.184.216.23")
    net.listen("2606:2800:220:1::20", 9000, echo)
    net.listen("93.184.216.24", 9000, echo)
    reset_seen = threading.Event()

    def sink(connection, _):
        """Says that it has a byte, then nothing until the peer resets, or ends."""
        connection.sendall(connection.recv(1))
        try:
            while connection.recv(1 << 16):
                pass
        except ConnectionResetError:
            reset_seen.set()
    net.listen("93.184.216.25", 9000, sink)

    def inside(program, *rules, flags=()):
        words = [word for rule in rules for word in ("--allow", rule)]
        return net.pinfold("run", *flags, *words, "@host", "/usr/bin/python3", "-c", "import socket, hashlib, errno, struct, time\n" + program)

    def row(run):
        return run.result["egress"][0]

    run = inside("s = socket.create_connection(('pour.example', 9000)); sha = hashlib.sha256(); n = 0\n"
                 "while data := s.recv(1 << 16): sha.update(data); n += len(data)\nprint(n, sha.hexdigest())", "pour.example:9000")
    is_(run.out.decode().split(), [str(SIZE), PATTERN], "much downwards arrives whole", run)
    is_((row(run)["received_bytes"], row(run)["sent_bytes"]), (SIZE, 0), "and is counted exactly", run)
    run = inside(f"s = socket.create_connection(('digest.example', 9000))\nfor i in range({SIZE >> 16}): s.sendall(bytes(range(256)) * 256)\n"
                 "s.shutdown(socket.SHUT_WR); print(s.recv(100).decode(), s.recv(1))", "digest.example:9000")
    is_(run.out.decode().split(), [PATTERN, "b''"], "much upwards, a half-close, and the answer after it", run)
    is_((row(run)["received_bytes"], row(run)["sent_bytes"]), (64, SIZE), "counted exactly", run)
    run = inside("s = socket.create_connection(('reset.example', 9000)); s.sendall(b'x')\n"
                 "try: print(s.recv(1))\nexcept OSError as e: print(errno.errorcode[e.errno])", "reset.example:9000")
    is_(run.out, b"ECONNRESET\n", "a reset from outside is a reset inside", run)
    with net.start("run", "--allow", "sink.example:9000", "--stdin", "-", "@host", "/usr/bin/python3", "-c",
                   "import socket, struct, sys\ns = socket.create_connection(('sink.example', 9000)); s.sendall(b'x'); s.recv(1)\n"
                   "s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0)); s.close(); sys.stdin.read()", stdin=subprocess.PIPE) as running:
        heard = reset_seen.wait(60)  # the program goes on until it is
        run = running.wait(60, b"")
    ok(heard, "a reset from inside is a reset outside", run)
    run = inside("s = socket.create_connection(('refuse.example', 9000))\n"
                 "try: print(s.recv(1))\nexcept OSError as e: print(errno.errorcode[e.errno])", "refuse.example:9000")
    is_(run.out, b"ECONNRESET\n", "a refused connection is reset inside", run)
    is_((row(run)["verdict"], row(run)["errno"], row(run)["address"]), ("failed", "ECONNREFUSED", "93.184.216.23"), "its errno is in the result", run)
    ECHO = "s = socket.create_connection(('%s', 9000)); s.sendall(b'x' * 1000); s.shutdown(socket.SHUT_WR); n = 0\nwhile d := s.recv(4096): n += len(d)\nprint(n)"
    run = inside(ECHO % "six.example", "six.example:9000")
    is_((run.out, row(run)["address"]), (b"1000\n", "2606:2800:220:1::20"), "IPv6 outside, IPv4 inside", run)
    # What is sent there is lost without a word, for longer than this test is waited for.
    net.home.run("ip", "neigh", "replace", "2606:2800:220:1::66", "lladdr", "02:00:00:00:00:66", "dev", "up0", "nud", "permanent")
    run = inside(ECHO % "both.example", "both.example:9000", flags=("--egress-connect-timeout", "10m"))
    is_((run.out, row(run)["address"]), (b"1000\n", "93.184.216.24"), "an IPv6 address that nobody has delays, and no more", run)
    run = inside("import threading\ndef one(i):\n    s = socket.create_connection(('echo.example', 9000))\n    s.sendall(bytes([i]) * 70000); s.shutdown(socket.SHUT_WR)\n"
                 "    got = b''\n    while d := s.recv(65536): got += d\n    good.append(got == bytes([i]) * 70000)\n"
                 "good = []; threads = [threading.Thread(target=one, args=(i,)) for i in range(100)]\n"
                 "[t.start() for t in threads]; [t.join() for t in threads]; print(len(good), all(good))", "echo.example:9000")
    is_(run.out, b"100 True\n", "a hundred connections at once: more than there are places wait for one", run)
    run = inside("s = socket.create_connection(('echo.example', 9000)); s.sendall(b'last words')", "echo.example:9000")
    is_(row(run)["sent_bytes"], 10, "what a program sent just before its end is passed on", run)
done()
