#!/usr/bin/python3
"""udp: rules: datagrams go to the name's address and come back from the address that was asked, and from nobody else."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet
from pf import *

with Internet() as net:
    net.dns.names["time.example"] = ["93.184.216.30"]
    net.dns.names["bad.example"] = ["127.0.0.1"]
    hits = net.udp("93.184.216.30", 123, lambda data: b"re:" + data)
    six = net.udp("2606:2800:220:1::30", 123, lambda data: b"six:" + data)

    def inside(program, *rules):
        words = [word for rule in rules for word in ("--allow", rule)]
        return net.pinfold("run", *words, "@host", "/usr/bin/python3", "-c", "import socket, errno\n" + program)

    run = inside("a = (socket.gethostbyname('time.example'), 123)\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(30)\n"
                 "for d in b'one', b'', b'x' * 20000: s.sendto(d, a); r, f = s.recvfrom(65536); print(len(r), f == a)", "udp:time.example:123")
    is_(run.out.decode().splitlines(), ["6 True", "3 True", "20003 True"], "datagrams of any size, and back from the same address", run)
    row = next(row for row in run.result["egress"] if row["transport"] == "udp")
    is_((row["name"], row["rule"], row["address"], row["port"], row["verdict"], row["sent_bytes"], row["received_bytes"]),
        ("time.example", "udp:time.example:123", "93.184.216.30", 123, "allowed", 20003, 20012), "the flow is one row", run)
    run = inside("s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); s.settimeout(30); s.connect(('2606:2800:220:1::30', 123)); s.send(b'a'); print(s.recv(9))",
                 "udp:[2606:2800:220:1::/64]:123")
    is_(run.out, b"b'six:a'\n", "a block of IPv6, from a connected socket", run)
    run = inside("s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(3); s.sendto(b'a', ('127.0.0.1', 123))\n"
                 "try: print(s.recv(9))\nexcept TimeoutError: print('silence')\n"
                 "s.sendto(b'a', (socket.gethostbyname('bad.example'), 123))\ntry: print(s.recv(9))\nexcept TimeoutError: print('silence')",
                 "udp:time.example:123", "udp:bad.example:123")
    is_(run.out, b"silence\nsilence\n", "another destination, or a name that leads to loopback, gets nothing", run)
    is_(sorted((row["name"] or row["address"], row["verdict"]) for row in run.result["egress"]), [("127.0.0.1", "denied"), ("bad.example", "denied")],
        "both are listed", run)
    run = inside("s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ntry: s.sendto(b'a', ('93.184.216.30', 123)); print('sent')\nexcept OSError as e: print(errno.errorcode[e.errno])",
                 "time.example:123")
    is_(run.out, b"ENETUNREACH\n", "a literal that no rule names fails in the kernel", run)
    before = len(hits)
    run = inside("a = (socket.gethostbyname('time.example'), 123)\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b'bye', a)", "udp:time.example:123")
    is_(hits[before:], [b"bye"], "a last datagram leaves although its sender is gone", run)

    before = len(hits)
    run = inside("""
a = (socket.gethostbyname("time.example"), 123)
first = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); first.settimeout(30)
for i in range(200):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(30); s.bind(("", 20000 + i)); s.sendto(b"%d" % i, a) # a port that comes twice would be one flow
        if s.recv(9) != b"re:%d" % i: break
    first.sendto(b"still", a); first.recv(9)
print(i)
""", "udp:time.example:123")
    is_((run.out, len(hits) - before), (b"199\n", 400), "more flows than there may be, one after the other: the silent ones make room", run)
    is_([(row["verdict"], row["count"], row["sent_bytes"]) for row in run.result["egress"]], [("allowed", 201, 200 * 5 + 490)], "none is lost, and all are counted", run)
done()
