#!/usr/bin/python3
"""Only what a rule names has an address inside, and only that is ever asked of the host's name servers."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet, page
from pf import *

# A resolver of its own: raw questions, as RFC 1035 has them. Prints type, code, addresses, and whether the question came back as it was.
ASK = r'''
import socket, struct, sys
SERVER = open("/etc/resolv.conf").read().split()[1]
def ask(name, kind, tcp=False, edns=b"", server=SERVER, of=1):
    labels = b"".join(bytes([len(l)]) + l for l in name.encode("latin-1").decode("unicode_escape").encode("latin-1").split(b".")) + b"\0"
    question = labels + struct.pack("!HH", kind, of)
    query = struct.pack("!HHHHHH", 0x4242, 0x0100, 1, 0, 0, 1 if edns else 0) + question + edns
    if tcp:
        with socket.create_connection((server, 53), 30) as s:
            s.sendall(struct.pack("!H", len(query)) + query)
            reply = s.makefile("rb").read(struct.unpack("!H", s.recv(2, socket.MSG_WAITALL))[0])
    else:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.settimeout(30)
            s.connect((server, 53))
            s.send(query)
            reply = s.recv(4096)
    code, count = struct.unpack("!H", reply[2:4])[0] & 15, struct.unpack("!H", reply[6:8])[0]
    same = reply[12:12 + len(question)] == question
    address = socket.inet_ntoa(reply[-4:] if not edns else reply[12 + len(question) + 12:][:4]) if count and kind == 1 else "-"
    return f"{code} {count} {address} {same}"
EDNS = b"\0" + struct.pack("!HHIH", 41, 4096, 0, 0)
'''

with Internet() as net:
    net.dns.names["files.example"] = net.dns.names["a.files.example"] = net.dns.names["b.a.files.example"] = ["93.184.216.11"]
    net.dns.names["one.example"] = ["93.184.216.10", "2606:2800:220:1::10"]
    net.listen("93.184.216.11", 80, page("files"))
    net.listen("93.184.216.10", 80, page("one"))
    rules = ["--allow", "one.example:80", "--allow", "*.files.example:80"]

    def inside(*command, **options):
        return net.pinfold("run", *rules, "@host", *command, **options)

    run = inside("/usr/bin/python3", "-c", ASK + r'''
for name, kind in (("one.example", 1), ("ONE.eXaMple", 1), ("one.example", 28), ("one.example", 16), ("a.files.example", 1),
                   ("b.a.files.example", 1), ("A.FILES.example", 1), ("files.example", 1), ("xfiles.example", 1),
                   ("files.example.evil.example", 1), ("secret.evil.example", 1), (r"one\x00.example", 1), ("one.example.x", 1)):
    print(name, kind, ask(name, kind))
print("tcp", ask("one.example", 1, tcp=True))
print("edns", ask("oNe.example", 1, edns=EDNS))
''')
    is_((run.status, run.code), ("exited", 0), "the questions are asked", run)
    is_(run.out.decode().splitlines(), [
        "one.example 1 0 1 198.18.1.0 True", "ONE.eXaMple 1 0 1 198.18.1.0 True", "one.example 28 0 0 - True",
        "one.example 16 0 0 - True", "a.files.example 1 0 1 198.18.1.1 True", "b.a.files.example 1 0 1 198.18.1.2 True",
        "A.FILES.example 1 0 1 198.18.1.1 True", "files.example 1 3 0 - True", "xfiles.example 1 3 0 - True",
        "files.example.evil.example 1 3 0 - True", "secret.evil.example 1 3 0 - True", r"one\x00.example 1 3 0 - True",
        "one.example.x 1 3 0 - True", "tcp 0 1 198.18.1.0 True", "edns 0 1 198.18.1.0 True"],
        "each allowed name has one address of its own, AAAA no data, all else NXDOMAIN; the question's casing is kept", run)
    is_(net.dns.log, [], "no question left: answers need no name server, and nothing was connected to")
    denied = {row["name"]: (row["transport"], row["verdict"], row["count"]) for row in run.result["egress"]}
    is_(denied, {name: ("dns", "denied", 1) for name in ("files.example", "xfiles.example", "files.example.evil.example",
                                                         "secret.evil.example", r"one\000.example", "one.example.x")},
        "what was denied is listed", run)

    run = inside("/usr/bin/python3", "-c", ASK + r'''
for name in "one.example", "evil.example":
    print([ask(name, kind, of=of, tcp=kind > 250) for kind, of in ((251, 1), (252, 1), (255, 1), (16, 3), (1, 4), (1, 255), (65535, 1))])
''')
    is_([[answer.split()[0] for answer in eval(line)] for line in run.out.decode().splitlines()], [["5", "5", "0", "5", "5", "5", "0"], ["3"] * 7],
        "transfers and other classes are refused of an allowed name, and NXDOMAIN of any other", run)
    is_([(row["name"], row["verdict"], row["count"]) for row in run.result["egress"]], [("evil.example", "denied", 7)], "each of these is listed", run)

    for client, command in (("getent", "getent hosts one.example | awk '{print $1}'"),
                            ("python", "python3 -c 'import socket; print(socket.gethostbyname(\"one.example\"))'"),
                            ("perl", "perl -MSocket -e 'print inet_ntoa(inet_aton(\"one.example\"))'")):
        run = inside("/bin/sh", "-c", command)
        is_(run.out.decode().strip(), "198.18.1.0", f"{client} resolves without any help", run)
    for client, command in (("curl", "curl -sS http://one.example/"), ("curl, another case", "curl -sS http://ONE.example/"),
                            ("python urllib", "python3 -c 'import urllib.request as u; print(u.urlopen(\"http://one.example/\").read().decode())'"),
                            ("a wildcard's name", "curl -sS http://b.a.files.example/")):
        run = inside("/bin/sh", "-c", command)
        is_((run.code, run.out.decode().strip()), (0, "files" if "wild" in client else "one"), f"{client} connects", run)
    is_(net.dns.asked, {"one.example", "b.a.files.example"}, "the name server saw the allowed names and nothing else")

    net.dns.log.clear()
    run = net.pinfold("run", *rules, "--env", "LOCALDOMAIN=evil.example search.example", "@host", "/bin/sh", "-c",
                      "getent hosts one.example; getent hosts short; curl -s http://nothing.files.example/; true")
    is_(net.dns.asked, {"nothing.files.example"}, "search domains inside lead nowhere, the host's are not used", run)
    is_([(row["verdict"], row["reason"]) for row in run.result["egress"] if row["name"] == "nothing.files.example"],
        [("failed", "the name does not exist")], "a name that does not exist is told from one that is denied", run)

    net.dns.truncated.add("one.example")
    net.dns.aliases["c.files.example"] = "cdn.elsewhere.example"
    net.dns.names["cdn.elsewhere.example"] = ["93.184.216.11"]
    run = inside("/bin/sh", "-c", "curl -sS http://one.example/; curl -sS http://c.files.example/")
    is_(run.out, b"onefiles", "a truncated answer is asked for by TCP, an alias is followed", run)

    run = inside("/usr/bin/python3", "-c", r'''
import socket
for i in range(4200):
    try: socket.gethostbyname(f"n{i}.files.example")
    except OSError as error: print(i, error.errno); break
''')
    row = [row for row in run.result["egress"] if row["reason"] == "too many names were asked for"]
    is_((run.out.split()[:1], len(row)), ([b"4096"], 1), "a wildcard's names are bounded", run)

    net.dns.silent.add("one.example")
    run = inside("/usr/bin/python3", "-c", "import socket\ns = socket.create_connection(('one.example', 80)); s.sendall(b'GET / HTTP/1.1\\r\\nHost: one.example\\r\\n\\r\\n')\n"
                 "try: print(s.recv(1))\nexcept ConnectionResetError: print('reset')")
    is_((run.out, [(row["verdict"], row["reason"]) for row in run.result["egress"]]),
        (b"reset\n", [("failed", "the name servers do not answer")]), "name servers that say nothing are not waited for for ever", run)

run = pinfold("run", "@host", "/bin/sh", "-c", "cat /etc/resolv.conf; ls /sys/class/net 2>/dev/null; cat /proc/net/route | wc -l")
unlike(run.out.decode(), "nameserver", "without a rule there is no resolver")
is_(run.result["egress"], [], "nor anything to list")
done()
