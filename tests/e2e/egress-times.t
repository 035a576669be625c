#!/usr/bin/python3
"""--egress-connections, --egress-connect-timeout and --egress-idle: what reaches one is refused or cut and says so, what stays below is not. Row NE23."""
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet, echo
from pf import *

PY = ("@host", "/usr/bin/python3", "-c")
# So many connections, each of which was heard by its server; what becomes of one more.
HOLD = r"""
import errno, socket, sys
def begin():
    s = socket.create_connection(("echo.example", 9000), 30); s.sendall(b"x")
    try: return s if s.recv(1) == b"x" else None
    except OSError as e: print(errno.errorcode[e.errno])
held = [begin() for _ in range(int(sys.argv[1]))]
print(sum(s is not None for s in held))
"""
TALK = r"""
import errno, socket, sys, time
try:
    s = socket.create_connection((sys.argv[1], 9000), 30); s.sendall(b"x")
    if len(sys.argv) > 2: time.sleep(float(sys.argv[2]))
    n = 0
    while d := s.recv(65536): n += len(d)
    print(n)
except OSError as e: print(errno.errorcode[e.errno])
"""
MIB = 1 << 20
POURED = 32 * MIB  # more than all buffers on the way


def pour(connection, _):
    connection.recv(1)
    connection.sendall(bytes(POURED))


def drip(connection, _):
    """A byte now and then: never nothing for long."""
    connection.recv(1)
    for _ in range(12):
        connection.sendall(b"x")
        time.sleep(0.5)


def late(connection, _):
    connection.recv(1)
    time.sleep(4)
    connection.sendall(b"x")


def slowly(addresses):
    """What a name server says that takes its time."""
    def answer():
        time.sleep(0.7)
        return addresses
    return answer


with Internet() as net:
    hold = threading.Event()
    for number, (name, serve) in enumerate({"echo": echo, "pour": pour, "drip": drip, "late": late, "mute": lambda connection, _: hold.wait(60)}.items()):
        net.dns.names[f"{name}.example"] = [f"93.184.216.{20 + number}"]
        net.listen(f"93.184.216.{20 + number}", 9000, serve)
    net.dns.names["hole.example"] = ["93.184.217.1"]
    net.world.run("ip", "route", "add", "blackhole", "93.184.217.0/24")
    net.dns.names["slow.example"] = slowly(["93.184.216.20"])

    def rows(run):
        return [(row["verdict"], row["reason"], row["errno"], row["count"]) for row in run.result["egress"]]

    # ---- connections ----
    run = net.pinfold("run", "--allow", "echo.example:9000", "--egress-connections", "3", "--egress-connect-timeout", "4s", *PY, HOLD, "4")
    is_(run.out.split(), [b"ECONNRESET", b"3"], "a connection more than --egress-connections is reset", run)
    is_(rows(run), [("allowed", None, None, 3), ("denied", "too many connections at once", None, 1)], "and listed", run)
    run = net.pinfold("run", "--allow", "echo.example:9000", "--egress-connections", "3", *PY, HOLD, "3")
    is_((run.out, rows(run)), (b"3\n", [("allowed", None, None, 3)]), "exactly so many are served", run)
    run = net.pinfold("run", "--allow", "echo.example:9000", "--egress-connections", "100", "--nofile", "1024", *PY, HOLD, "100")
    is_((run.out, rows(run)), (b"100\n", [("allowed", None, None, 100)]), "it may be more than what is usual", run)

    # ---- the time to connect ----
    run = net.pinfold("run", "--allow", "hole.example:9000", "--egress-connect-timeout", "2.5s", *PY, TALK, "hole.example")
    is_((run.out, rows(run)), (b"ECONNRESET\n", [("failed", "no connection within 2500ms", "ETIMEDOUT", 1)]), "a server that is not heard of for --egress-connect-timeout", run)
    net.dns.silent.add("quiet.example")
    run = net.pinfold("run", "--allow", "quiet.example:9000", "--egress-connect-timeout", "1.5s", *PY, TALK, "quiet.example")
    is_((run.out, rows(run)), (b"ECONNRESET\n", [("failed", "the name servers did not answer within 1500ms", None, 1)]), "a name server that is not: the name is in it", run)
    run = net.pinfold("run", "--allow", "slow.example:9000", "--egress-connect-timeout", "20s", "@host", "/usr/bin/python3", "-c",
                      "import socket; s = socket.create_connection(('slow.example', 9000), 30); s.sendall(b'hi'); print(s.recv(2).decode())")
    is_((run.out, rows(run)), (b"hi\n", [("allowed", None, None, 1)]), "one that answers in time is waited for", run)

    # ---- idle ----
    run = net.pinfold("run", "--allow", "mute.example:9000", "--egress-idle", "2s", *PY, TALK, "mute.example")
    is_((run.out, rows(run)), (b"ECONNRESET\n", [("allowed", None, None, 1), ("allowed", "no byte either way for 2s", None, 1)]), "a connection without a byte for --egress-idle is cut", run)
    is_([row["sent_bytes"] for row in run.result["egress"]], [1, 0], "its bytes are counted once", run)
    for what, flags, name, want in (("a byte now and then", ("--egress-idle", "4s"), "drip", b"12\n"), ("none lifts it", ("--egress-idle", "none"), "late", b"1\n"),
                                    ("the usual time is longer", (), "late", b"1\n")):
        run = net.pinfold("run", "--allow", f"{name}.example:9000", *flags, *PY, TALK, f"{name}.example")
        is_((run.out, rows(run)), (want, [("allowed", None, None, 1)]), f"{what}: it is not", run)
    run = net.pinfold("run", "--memory", "512M", "--allow", "pour.example:9000", "--egress-idle", "2s", *PY, TALK, "pour.example", "5")
    is_((run.out, rows(run)), (b"%d\n" % POURED, [("allowed", None, None, 1)]), "bytes that wait for a program that reads late: it is not idle, and gets them all", run)

    # ---- what name servers say, told as it is ----
    for code, words in ((2, "the name servers failed (SERVFAIL)"), (5, "the name servers refuse to tell (REFUSED)")):
        for kind in 1, 28:
            net.dns.codes["ill.example", kind] = code
        run = net.pinfold("run", "--allow", "ill.example:9000", *PY, TALK, "ill.example")
        is_((run.out, rows(run)), (b"ECONNRESET\n", [("failed", words, None, 1)]), words, run)
    run = net.pinfold("run", "--allow", "quiet.example:9000", "--egress-connect-timeout", "20s", *PY, TALK, "quiet.example")
    is_(rows(run), [("failed", "the name servers do not answer", None, 1)], "silence is another thing", run)

    # ---- the same by a spec, and in what explain says ----
    spec = os.path.join(tmpdir(), "spec.json")
    with open(spec, "w", encoding="utf-8") as file:
        file.write('{"egress": {"allow": ["echo.example:9000"], "connections": 7, "connect-timeout": "1.5s", "idle": "none"}}')
    os.chmod(spec, 0o644)
    run = pinfold("explain", "--spec", spec, "@host", "true")
    like(run.out.decode(), r"7 connections at once, 1500ms to connect, never cut for being idle", "explain tells them")
    hold.set()
for words, reason in (({"--egress-connections": "0"}, "too little; the least is 1"), ({"--egress-connections": "257"}, "too much; the most is 256"), ({"--egress-connections": "none"}, "cannot be lifted"),
                      ({"--egress-connect-timeout": "0s"}, "too little"), ({"--egress-idle": "0s"}, "makes no sense; write none to lift the limit")):
    run = pinfold("run", *(word for pair in words.items() for word in pair), tiny(), "/bin/payload", "echo", "ran")
    is_((run.code, run.out), (125, b""), f"{words}: refused", run)
    like(run.err.decode(), reason, "with the reason")
done()
