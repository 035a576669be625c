#!/usr/bin/python3
"""Programs that are slow on purpose, and ten thousand connections: what never says whom it is for is cut after ten seconds, the broker
stays small, and another run notices nothing. Row NE21."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet, own, page, pss_kb
from host import broker_of
from pf import *

SLOW = r'''
import errno, socket, sys, threading, time
def begin(port, first):
    s = socket.create_connection(("web.example", port), 60)
    s.sendall(first)
    return s
slow = [begin(80, b"GET / HTTP/1.1\r\nHost: web.exam") for _ in range(40)] + [begin(443, b"\x16\3\1\2\0\1\0") for _ in range(23)]
drip = socket.create_connection(("web.example", 80), 60)
print("open", flush=True)
sys.stdin.readline()
def trickle():
    try:
        for byte in b"GET / HTTP/1.1\r\nHost: web.example\r\n" + b"X: y\r\n" * 100000: drip.sendall(bytes([byte])); time.sleep(0.05)
    except OSError: return
thread = threading.Thread(target=trickle)
thread.start()
ends = {}
for s in (*slow, drip):
    try: end = s.recv(1)
    except OSError as e: end = errno.errorcode[e.errno]
    ends[end] = ends.get(end, 0) + 1
thread.join()
print(ends, flush=True)
'''
MANY = r'''
import socket, struct, sys
address = socket.gethostbyname("web.example")
for i in range(10000):
    s = socket.create_connection((address, 443), 60)
    if i % 2: s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()
print("many", flush=True)
sys.stdin.readline()
'''
FETCH = "import urllib.request as u; print(u.urlopen('http://web.example/', timeout=60).read().decode())"


def broker_kb(mark):
    pids = broker_of(mark)
    is_(len(pids), 3, "the broker lives")
    return pss_kb(pids)


with Internet() as net:
    net.dns.names["web.example"] = ["93.184.216.10"]
    web = net.listen("93.184.216.10", 80, page("page"))
    RULES = ("--allow", "web.example:80", "--allow", "web.example:443")
    PY = ("@host", "/usr/bin/python3", "-c")
    with net.start("run", "--id", own("slow"), *RULES, "--stdin", "-", *PY, SLOW + FETCH, stdin=subprocess.PIPE) as running:
        is_(running.line(), "open", "a run opens as many connections as it may have, and finishes no request")
        within(broker_kb(own("slow")), 100, 16 * 1024, "its broker is small (PSS, KiB)")
        is_(len(web.hits), 0, "nothing of it left")
        run = net.pinfold("run", *RULES, *PY, FETCH)
        is_((run.out, len(web.hits)), (b"page\n", 1), "another run meanwhile gets its page", run)
        run = running.wait(60, b"\n")
    is_(run.out.decode().splitlines()[1:], [str({"ECONNRESET": 64}), "page"], "all are cut, the one that drips too, and then there is room again", run)
    late = [row for row in run.result["egress"] if row["verdict"] != "allowed"]
    is_(sum(row["count"] for row in late), 64, "each is counted", run)
    ok(len(late) <= 4, "in few rows", run)
    is_(len(web.hits), 2, "the server saw the two pages alone")

    with net.start("run", "--id", own("many"), *RULES, "--stdin", "-", *PY, MANY + FETCH, stdin=subprocess.PIPE) as running:
        is_(running.line(), "many", "ten thousand connections that say nothing, one after the other, half of them reset")
        within(broker_kb(own("many")), 100, 4 * 1024, "leave the broker as small as it was (PSS, KiB)")
        run = running.wait(60, b"\n")
    is_(run.out.decode().splitlines()[1:], ["page"], "and able", run)
    ok(len(run.result["egress"]) < 10, "in few rows", run)
done()
