#!/usr/bin/python3
"""Every address that a name resolves to must be globally reachable, or none is connected to; literals need a rule of their own."""
import itertools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet, echo
from pf import *

# Where an allowed name must not lead, by IANA's special-purpose registries and what they carry.
BAD = ["127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1", "240.0.0.1",
       "198.18.0.1", "192.0.2.1", "255.255.255.255", "::1", "fc00::1", "fe80::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254",
       "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "ff02::1", "2001:db8::1"]
TRY = r'''
import socket, errno, sys
def attempt(host, port=7000):
    try:
        with socket.create_connection((host, port), 30) as s:
            s.sendall(b"hi"); return s.recv(2).decode()
    except socket.gaierror: return "unknown"
    except OSError as e: return errno.errorcode.get(e.errno, str(e))
for word in sys.argv[1:]:
    host, _, port = word.partition("@")
    print(word, attempt(host, int(port or 7000)))
'''
with Internet() as net:
    good = net.listen("93.184.216.10", 7000, echo)
    own = net.listen("127.0.0.1", 7000, echo, holder=net.home)  # pinfold's own loopback: the host's
    metadata = net.listen("169.254.169.254", 7000, echo)
    private = net.listen("10.1.2.3", 7000, echo)
    net.listen("10.1.2.3", 7001, echo)
    six = net.listen("2606:2800:220:1::10", 7000, echo)
    for number, address in enumerate(BAD):
        net.dns.names[f"bad{number}.test.example"] = [address]
        net.dns.names[f"mixed{number}.test.example"] = ["93.184.216.10", address]
    net.dns.names["good.test.example"] = ["93.184.216.10"]

    def inside(rules, *targets):
        words = [word for rule in rules for word in ("--allow", rule)]
        return net.pinfold("run", *words, "@host", "/usr/bin/python3", "-c", TRY, *targets)

    def lines(run):
        return dict(line.split(" ", 1) for line in run.out.decode().splitlines())

    names = [f"{kind}{number}.test.example" for number in range(len(BAD)) for kind in ("bad", "mixed")]
    run = inside(["*.test.example:7000"], "good.test.example", *names)
    is_(lines(run), {"good.test.example": "hi", **{name: "ECONNRESET" for name in names}}, "no name leads to an address that is not global, alone or beside a good one", run)
    denied = {row["name"]: row["verdict"] for row in run.result["egress"]}
    is_({name: denied.get(name) for name in names}, {name: "denied" for name in names}, "each is listed as denied", run)
    is_({row["address"] for row in run.result["egress"] if row["name"] == "bad4.test.example"}, {"169.254.169.254"}, "with the address that was bad", run)
    is_((own.hits, metadata.hits, private.hits), ([], [], []), "nothing was connected to")

    turn = itertools.count()
    net.dns.ttl = 0
    net.dns.names["turn.test.example"] = lambda: ["93.184.216.10" if next(turn) % 2 == 0 else "127.0.0.1"]
    run = net.pinfold("run", "--allow", "*.test.example:7000", "@host", "/usr/bin/python3", "-c",
                      TRY + "import time\nfor i in range(6): attempt('turn.test.example'); time.sleep(0.6)")
    is_((own.hits, {row["verdict"] for row in run.result["egress"]} <= {"allowed", "denied"}), ([], True), "a name that changes its answer reaches the good address or none", run)

    run = inside(["private:*.test.example:7000"], "bad1.test.example")
    is_(lines(run), {"bad1.test.example": "hi"}, "private: opens a private address to a name", run)
    run = inside(["10.1.2.0/24:7000"], "10.1.2.3", "10.1.2.3@7001", "10.1.3.3", "93.184.216.10", "8.8.8.8", "127.0.0.1", "169.254.169.254", "fe80::1", "::1", "2130706433", "0x7f.1")
    got = lines(run)
    is_(got, {"10.1.2.3": "hi", "10.1.2.3@7001": "ECONNREFUSED", "10.1.3.3": "ENETUNREACH", "93.184.216.10": "ENETUNREACH", "8.8.8.8": "ENETUNREACH",
              "127.0.0.1": "ECONNRESET", "169.254.169.254": "ENETUNREACH", "fe80::1": "EINVAL", "::1": "ECONNRESET",
              "2130706433": "ECONNRESET", "0x7f.1": "ECONNRESET"}, "a block opens its addresses and its port; the listener is no way to anything else", run)
    row = next(row for row in run.result["egress"] if row["verdict"] == "allowed")
    is_((row["name"], row["rule"], row["address"], row["verdict"]), (None, "10.1.2.0/24:7000", "10.1.2.3", "allowed"), "the literal is listed without a name", run)
    is_(own.hits, [], "the host's loopback was not reached")
    run = inside(["[2606:2800:220:1::/64]:7000"], "2606:2800:220:1::10", "2606:2800:220:2::10")
    is_(lines(run), {"2606:2800:220:1::10": "hi", "2606:2800:220:2::10": "ENETUNREACH"}, "a block of IPv6", run)
    run = inside(["0.0.0.0/0:7000"], "93.184.216.10", "127.0.0.1", "169.254.169.254")
    is_(lines(run), {"93.184.216.10": "hi", "127.0.0.1": "ECONNRESET", "169.254.169.254": "ECONNRESET"}, "all of IPv4 is not loopback, nor metadata", run)
    is_((own.hits, metadata.hits), ([], []), "neither was reached")
    run = inside(["private:127.0.0.1:7000"], "127.0.0.1")
    is_((lines(run), len(own.hits)), ({"127.0.0.1": "hi"}, 1), "the control: private: opens the host's loopback where it is named", run)
    run = inside(["private:169.254.169.254:7000"], "169.254.169.254")
    is_((lines(run), len(metadata.hits)), ({"169.254.169.254": "hi"}, 1), "and the metadata address", run)
    run = inside(["good.test.example:7000"], "good.test.example@7001", "good.test.example@22")
    is_(lines(run), {"good.test.example@7001": "ECONNREFUSED", "good.test.example@22": "ECONNREFUSED"}, "another port is refused at once", run)
    run = net.pinfold("run", "--allow", "good.test.example:7000", "@host", "/usr/bin/python3", "-c",
                      "import socket\nfor a in '127.0.0.1', '198.18.1.0', '0.0.0.0':\n    s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)\n"
                      "    try: s.bind((a, 7000)); s.listen(); print('listens')\n    except OSError as e: print(e.errno)\n"
                      "s = socket.socket(); s.bind(('127.0.0.1', 7002)); s.listen(); c = socket.create_connection(('127.0.0.1', 7002)); print('own')")
    is_(run.out.split(), [b"98", b"98", b"98", b"own"], "the program cannot take a rule's port for itself; its loopback is its own otherwise", run)
done()
