#!/usr/bin/python3
"""--egress-bytes ends the run; slow and flooding peers cannot make the broker grow."""
import json
import os
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet, echo, own, page, pss_kb
from host import broker_of
from pf import *

OTHERS = "and others that have no row of their own"


def pour(connection, _):
    while True:
        connection.sendall(bytes(65536))


with Internet() as net:
    net.dns.names["pour.example"] = ["93.184.216.20"]
    net.dns.names["echo.example"] = ["93.184.216.24"]
    net.dns.names["mute.example"] = ["93.184.216.26"]
    net.dns.names["web.example"] = ["93.184.216.27"]
    net.listen("93.184.216.20", 9000, pour)
    net.listen("93.184.216.24", 9000, echo)
    hold = threading.Event()
    net.listen("93.184.216.26", 9000, lambda connection, _: hold.wait(60))
    net.listen("93.184.216.27", 80, page("x"))
    PY = ("@host", "/usr/bin/python3", "-c")

    run = net.pinfold("run", "--allow", "pour.example:9000", "--egress-bytes", "1M", *PY,
                      "import socket, time\ns = socket.create_connection(('pour.example', 9000)); n = 0\n"
                      "try:\n    while d := s.recv(65536): n += len(d); print(n, flush=True)\nexcept OSError: pass\ntime.sleep(50)")
    is_((run.status, run.code), ("egress-limit", 124), "more than --egress-bytes ends the run", run)
    is_(sum(row["received_bytes"] + row["sent_bytes"] for row in run.result["egress"]), 1 << 20, "after exactly so many bytes", run)
    is_(run.result["cause"]["limit"], "egress", "with its own limit", run)
    run = net.pinfold("run", "--allow", "echo.example:9000", "--egress-bytes", "2000", *PY,
                      "import socket\ns = socket.create_connection(('echo.example', 9000)); s.sendall(b'x' * 1000); s.shutdown(socket.SHUT_WR)\n"
                      "n = 0\nwhile d := s.recv(4096): n += len(d)\nprint(n)")
    is_((run.status, run.out), ("exited", b"1000\n"), "exactly so many are allowed", run)

    with net.start("run", "--allow", "mute.example:9000", "--allow", "web.example:80", "--id", own("mute"), "--nofile", "1024", *PY, """
import select, socket, sys, errno
sockets, ends = [], []
for i in range(64):
    s = socket.create_connection(("mute.example", 9000)); s.setblocking(False)
    try:
        while True: s.send(bytes(1 << 16))
    except BlockingIOError: pass
    sockets.append(s)
print("full", flush=True)
flood = []
for i in range(600):
    s = socket.socket(); s.setblocking(False); s.connect_ex(("198.18.1.0", 9000)); flood.append(s)
gone, poll = set(), select.poll()
for s in flood: poll.register(s, 0)
while len(gone) < 200:
    for fd, _ in poll.poll(): gone.add(fd); poll.unregister(fd)
print("flooded", flush=True)
sys.stdin.read()
""", stdin=subprocess.PIPE) as running:
        is_(running.line(), "full", "64 connections whose peers do not read fill up, and block the program")
        pids = broker_of(own("mute"))
        is_(len(pids), 3, "the broker is three processes")
        within(pss_kb(pids), 100, 16 * 1024, "and is small (PSS, KiB)")
        is_(running.line(), "flooded", "hundreds more than it takes")
        within(pss_kb(pids), 100, 16 * 1024, "do not make it grow")
        hold.set()
        running.process.terminate()
        run = running.wait()
    reasons = {row["reason"]: row["count"] for row in run.result["egress"]}
    ok(reasons.get("too many connections at once", 0) > 100, "the flood was refused, and counted", run)
    ok(len(run.result["egress"]) < 10, "in few rows", run)

    # A flood of what costs nothing, and behind it something else of either half of the rows.
    run = net.pinfold("run", "--allow", "web.example:80", "--allow", "*.wide.example:80", "--events", "fd:1", *PY, """
import socket
for i in range(3000):
    try: socket.gethostbyname(f"n{i}.evil.example")
    except OSError: pass
def get(name, host):
    with socket.create_connection((name, 80), 20) as s:
        try: s.sendall(b"GET / HTTP/1.1\\r\\nHost: %s\\r\\n\\r\\n" % host.encode()); s.recv(10)
        except OSError: pass
for i in range(140): get(f"n{i}.wide.example", f"n{i}.wide.example")
get("web.example", "other.example")
get("web.example", "web.example")
""")
    kinds = [(row["transport"], row["verdict"]) for row in run.result["egress"]]
    is_({kind: kinds.count(kind) for kind in kinds}, {("dns", "denied"): 65, ("tcp", "failed"): 65, ("tcp", "denied"): 1, ("tcp", "allowed"): 1},
        "three thousand denied names and 140 that do not exist leave room for what else there was", run)
    others = {(row["transport"], row["verdict"]): row["count"] for row in run.result["egress"] if row["reason"] == OTHERS}
    is_(others, {("dns", "denied"): 3000 - 64, ("tcp", "failed"): 140 - 64}, "the others of each kind are one row, and counted", run)
    is_(run.result["egress_more"], sum(others.values()), "and egress_more is how many they are", run)
    told = [json.loads(line)["egress"] for line in run.out.splitlines() if b'"event":"egress"' in line]
    is_({(row["transport"], row["verdict"]) for row in told if row["reason"] == OTHERS}, set(others), "events tell of them", run)
    # Names that cost a connection each, and behind them one that pours: its bytes are in the rows all the same.
    for i in range(140):
        net.dns.names[f"n{i}.many.example"] = ["93.184.216.24"]
    run = net.pinfold("run", "--allow", "*.many.example:9000", "--allow", "pour.example:9000", "--egress-bytes", "1M", *PY, """
import socket, time
for i in range(140):
    with socket.create_connection((f"n{i}.many.example", 9000)) as s: s.sendall(b"x"); s.recv(1)
try:
    s = socket.create_connection(("pour.example", 9000))
    while s.recv(65536): pass
except OSError: pass
time.sleep(50)
""")
    is_((run.status, sum(row["received_bytes"] + row["sent_bytes"] for row in run.result["egress"])), ("egress-limit", 1 << 20),
        "what comes behind as many rows as there may be is counted to the byte", run)
    is_([row["count"] for row in run.result["egress"] if row["reason"] == OTHERS], [140 + 1 - 128], "in the row of the others", run)
    log = os.path.join(tmpdir(), "audit")
    run = net.pinfold("run", "--audit", log, "--allow", "*.many.example:9000", *PY, """
import socket
for i in range(140): # one after the other: at once there would be more than there are places
    with socket.create_connection((f"n{i}.many.example", 9000)) as s: s.sendall(b"x"); s.recv(1)
for i in range(140):
    try: socket.gethostbyname(f"n{i}.evil.example")
    except OSError: pass
""")
    with open(log, encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    is_((len([r for r in records if r["event"] == "denied"]), records[-1]["denied"]["egress"]), (64, 140), "the audit log has each denial that has a row of its own, and counts all of them and nothing else", run)
    run = net.pinfold("run", "--allow", "web.example:80", *PY,
                      "import socket\nfor i in range(300):\n    try: socket.gethostbyname(f'n{i}.evil.example')\n    except OSError: pass\n"
                      "import urllib.request as u; print(u.urlopen('http://web.example/').read())")
    is_([row["verdict"] for row in run.result["egress"] if row["name"] == "web.example"], ["allowed"], "a flood of denials leaves room for the others", run)
done()
