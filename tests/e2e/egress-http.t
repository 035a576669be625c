#!/usr/bin/python3
"""On 80 every request is judged by its Host; after any doubt the connection is cut."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet, page
from pf import *

# Sends each of the pieces, reads what comes until the end, prints how often a page came and how it ended.
SEND = r'''
import socket, sys
for case in eval(sys.stdin.read()):
    s = socket.create_connection(("web.example", 80), 10)
    got, end = b"", "end"
    try:
        for piece in case: s.sendall(piece)
        s.shutdown(socket.SHUT_WR)
        while data := s.recv(65536): got += data
    except OSError: end = "reset"
    print(got.count(b"page"), end)
'''
GET = b"GET / HTTP/1.1\r\nHost: web.example\r\n\r\n"
POST = b"POST /x HTTP/1.1\r\nHost: web.example\r\n"
GOOD = [
    ("a request", [GET], 1),
    ("two on one connection", [GET, GET], 2),
    ("pipelined in one piece", [GET + GET + GET], 3),
    ("byte by byte", [bytes([b]) for b in GET], 1),
    ("Host with its port, absolute form", [b"GET http://web.example/ HTTP/1.1\r\nHost: web.example:80\r\n\r\n"], 1),
    ("a body and a request behind it", [POST + b"Content-Length: 5\r\n\r\nhello" + GET], 2),
    ("a large body", [POST + b"Content-Length: 1000000\r\n\r\n", b"x" * 1000000, GET], 2),
]
CUT = [
    ("another Host", [b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"], "evil.example"),
    ("another Host in the second request", [GET + b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"], "evil.example"),
    ("another Host behind a body that looks like one", [POST + b"Content-Length: 4\r\n\r\nabcdGET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"], "evil.example"),
    ("an absolute form with another authority", [b"GET http://evil.example/ HTTP/1.1\r\nHost: web.example\r\n\r\n"], None),
    ("no Host", [b"GET / HTTP/1.1\r\n\r\n"], None),
    ("two Hosts", [b"GET / HTTP/1.1\r\nHost: web.example\r\nHost: web.example\r\n\r\n"], None),
    ("CONNECT", [b"CONNECT web.example:80 HTTP/1.1\r\nHost: web.example\r\n\r\n"], None),
    ("Upgrade", [b"GET / HTTP/1.1\r\nHost: web.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"], None),
    ("h2c preface", [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"], None),
    ("Content-Length with Transfer-Encoding", [POST + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"], None),
    ("repeated lengths", [POST + b"Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc"], None),
    ("obs-fold", [b"GET / HTTP/1.1\r\nHost: web.example\r\nX: a\r\n b\r\n\r\n"], None),
    ("bare LF", [b"GET / HTTP/1.1\nHost: web.example\n\n"], None),
    ("no HTTP", [b"\x16\x03\x01\x00\x05hello"], None),
    ("a head without end", [b"GET / HTTP/1.1\r\nHost: web.example\r\n" + b"X: " + b"y" * 40000], None),
]
with Internet() as net:
    net.dns.names["web.example"] = ["93.184.216.10"]
    web = net.listen("93.184.216.10", 80, page("page"))

    def inside(cases):
        return net.pinfold("run", "--allow", "web.example:80", "--stdin", "-", "@host", "/usr/bin/python3", "-c", SEND,
                           stdin=repr(cases).encode())

    run = inside([case for _, case, _ in GOOD])
    for (what, _, pages), line in zip(GOOD, run.out.decode().splitlines() or [""] * len(GOOD)):
        is_(line, f"{pages} end", what, run)
    is_([(row["verdict"], row["count"]) for row in run.result["egress"]], [("allowed", len(GOOD))], "all of them in one row", run)
    for what, case, reason in CUT:
        before = len(web.hits)
        run = inside([case])
        like(run.out.decode(), "^[01] reset$", f"{what}: cut", )
        row = run.result["egress"][-1]
        is_((row["verdict"], row["count"]), ("denied", 1), "and listed", run)
        # What was connected for a request before it has its own row, with the bytes of both ways.
        is_([(other["verdict"], other["count"], other["sent_bytes"] > 0) for other in run.result["egress"][:-1]], [("allowed", 1, True)] * (len(web.hits) - before),
            "beside the requests that were allowed", run)
        like(row["reason"] or "", reason or ".", "with the reason")
        if not case[0].startswith((GET, POST)) and "POST" not in repr(case):
            is_(len(web.hits), before, "and never connected")
    run = net.pinfold("run", "--allow", "tcp:web.example:80", "--stdin", "-", "@host", "/usr/bin/python3", "-c", SEND,
                      stdin=repr([[b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"]]).encode())
    is_(run.out, b"1 end\n", "the control: with tcp: the same bytes get through", run)
done()
