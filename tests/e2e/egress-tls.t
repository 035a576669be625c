#!/usr/bin/python3
"""On 443 the first bytes must be a ClientHello for the name that was dialled; a rule with tcp: relays anything."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet, echo, page
from pf import *

with Internet() as net:
    net.dns.names["good.example"] = ["93.184.216.10"]
    net.dns.names["plain.example"] = ["93.184.216.12"]
    front = net.tls("93.184.216.10", 443, ["good.example", "evil.example"], page("hello"))
    plain = net.listen("93.184.216.12", 443, echo)
    with open(net.authority.ca, "rb") as file:
        ca = file.read()

    def inside(command, *rules):
        words = [word for rule in rules or ("good.example:443", "tcp:plain.example:443") for word in ("--allow", rule)]
        return net.pinfold("run", *words, "--stdin", "-", "@host", "/bin/sh", "-c", "cat > ca.pem; " + command, stdin=ca)

    def rows(run, name):
        return [(row["verdict"], row["reason"], row["count"]) for row in run.result["egress"] if row["name"] == name]

    run = inside("curl -sS --cacert ca.pem https://good.example/; openssl s_client -connect good.example:443 -servername good.example "
                 "-CAfile ca.pem -verify_return_error </dev/null 2>&1 | grep -c '^Verify return code: 0'")
    is_(run.out, b"hello1\n", "curl and openssl get through, and see the server's own certificate", run)
    is_([(r[0], r[2]) for r in rows(run, "good.example")], [("allowed", 2)], "both are in one row", run)
    row = run.result["egress"][0]
    is_((row["rule"], row["address"], row["port"]), ("good.example:443", "93.184.216.10", 443), "with rule, address and port", run)
    within(row["received_bytes"], 500, 20000, "and its bytes")

    before = len(front.hits)
    for what, command, reason in (
            ("another name in the hello", "curl -sk --resolve evil.example:443:$(getent hosts good.example | awk '{print $1}') https://evil.example/",
             "evil.example"),
            ("no name in the hello", "openssl s_client -connect good.example:443 -noservername </dev/null", "name"),
            ("plain HTTP", "curl -s --max-time 5 http://good.example:443/", "TLS"),
            ("another protocol", "printf 'SSH-2.0-x\\r\\n' | nc -w 3 good.example 443 || exec 3<>/dev/tcp/good.example/443", "TLS")):
        run = inside(f"({command}) >/dev/null 2>&1; true") if what != "another protocol" else net.pinfold(
            "run", "--allow", "good.example:443", "@host", "/usr/bin/python3", "-c",
            "import socket; s = socket.create_connection(('good.example', 443)); s.sendall(b'SSH-2.0-x\\r\\n')\n"
            "try: print(s.recv(1))\nexcept ConnectionResetError: print('reset')")
        found = rows(run, "good.example")
        is_([(r[0], r[2]) for r in found], [("denied", 1)], f"{what} is cut and listed", run)
        like(found[0][1] if found else "", reason, "with the reason")
        if what == "another protocol":
            is_(run.out, b"reset\n", "and the program sees a reset", run)
    is_(len(front.hits), before, "the server was not even connected to")

    # ECH: a hello whose outer name is the allowed one, as browsers send it, real or in imitation; OpenSSL passes over it.
    ECH = """
import socket, ssl, sys
context = ssl.create_default_context(); context.check_hostname = False; context.verify_mode = ssl.CERT_NONE
out, inn = ssl.MemoryBIO(), ssl.MemoryBIO()
try: context.wrap_bio(inn, out, server_hostname="good.example").do_handshake()
except ssl.SSLWantReadError: hello = bytearray(out.read())
at = 43; at += 1 + hello[at]; at += 2 + int.from_bytes(hello[at:at + 2], "big"); at += 1 + hello[at]
# outer, HKDF-SHA256 and AES-128-GCM, a config id, a key of 32 bytes, 144 bytes that nobody can read
body = bytes.fromhex("0000010001") + b"\\x2a" + b"\\0\\x20" + bytes(range(32)) + b"\\0\\x90" + bytes(range(144))
more = bytes.fromhex("fe0d") + len(body).to_bytes(2, "big") + body if sys.argv[1:] else b""
hello[at + 2:at + 2] = more
for place, size in ((at, 2), (6, 3), (3, 2)):
    hello[place:place + size] = (int.from_bytes(hello[place:place + size], "big") + len(more)).to_bytes(size, "big")
s = socket.create_connection(("good.example", 443)); s.sendall(hello)
try: print(s.recv(1))
except ConnectionResetError: print("reset")
"""
    PY = ("@host", "/usr/bin/python3", "-c", ECH)
    is_(net.pinfold("run", "--allow", "good.example:443", *PY).out, b"b'\\x16'\n", "the control: a hello without ECH is answered")
    is_(net.pinfold("run", "--allow", "tcp:good.example:443", *PY, "ech").out, b"b'\\x16'\n", "the control: the server answers one with ECH, where nobody looks")
    before = len(front.hits)
    run = net.pinfold("run", "--allow", "good.example:443", *PY, "ech")
    is_((run.out, rows(run, "good.example")), (b"reset\n", [("denied", "an encrypted ClientHello (ECH) hides the server name", 1)]), "one with ECH is cut, though its outer name is the allowed one", run)
    is_(len(front.hits), before, "and never sent")

    run = net.pinfold("run", "--allow", "good.example:443", "@host", "/usr/bin/python3", "-c", """
import socket, ssl
class Slow:  # the hello, byte by byte
    pass
raw = socket.create_connection(("good.example", 443)); raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
context = ssl.create_default_context(); context.check_hostname = False; context.verify_mode = ssl.CERT_NONE
out, inn = ssl.MemoryBIO(), ssl.MemoryBIO()
tls = context.wrap_bio(inn, out, server_hostname="good.example")
try: tls.do_handshake()
except ssl.SSLWantReadError: pass
for byte in out.read(): raw.sendall(bytes([byte]))
while True:
    inn.write(raw.recv(65536))
    try: tls.do_handshake(); break
    except ssl.SSLWantReadError: continue
print(tls.version() is not None)
""")
    is_(run.out, b"True\n", "a hello in single bytes is read as one", run)

    run = net.pinfold("run", "--allow", "tcp:plain.example:443", "@host", "/usr/bin/python3", "-c",
                      "import socket; s = socket.create_connection(('plain.example', 443)); s.sendall(b'no TLS'); print(s.recv(10))")
    is_(run.out, b"b'no TLS'\n", "a rule with tcp: relays what is no TLS", run)
    run = net.pinfold("run", "--allow", "good.example:443", "@host", "/usr/bin/python3", "-c",
                      "import socket; s = socket.create_connection(('good.example', 443)); s.shutdown(socket.SHUT_WR)\n"
                      "try: print(s.recv(1))\nexcept ConnectionResetError: print('reset')")
    is_(rows(run, "good.example"), [("failed", "the program closed it without a ClientHello", 1)], "silence is no attempt to cheat", run)
done()
