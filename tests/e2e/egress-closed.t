#!/usr/bin/python3
"""Egress fails closed: an empty list, a broker that is missing, name servers that are dead; what the program says harms nobody who reads
the result; there is no proxy; with the program its connections end. Rows NE05, NE13, NE22 and NE23."""
import json
import os
import shutil
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet, echo, page
from pf import *

CONNECT = r'''
import errno, socket, sys
for host, port in (word.split("@") for word in sys.argv[1:]):
    try:
        with socket.create_connection((host, int(port)), 20) as s: s.sendall(b"hi"); print(s.recv(2).decode())
    except socket.gaierror: print("unknown")
    except OSError as e: print(errno.errorcode[e.errno])
'''
# What somebody's terminal, log or shell would take for more than text.
HOSTILE = [b"\x1b[31mred", b"line\nverdict: allowed", b"quote\"}],\"ok\":true", b"\xc2\x9b31m", b"tab\there", b"nul\0.echo.example", b"back\\slash", b"\xff\xfe", b"\xe2\x80\xae.elpmaxe.ohce"]
SPEAK = r'''
import socket, ssl, struct, sys
def try_it(act):
    try: act()
    except (OSError, ValueError): pass
def dns(name):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(30); s.connect(("198.18.0.1", 53)); s.send(struct.pack("!6H", 1, 256, 1, 0, 0, 0) + bytes([len(name)]) + name + b"\4evil\0\0\1\0\1"); s.recv(512)
def http(name):
    with socket.create_connection(("echo.example", 80), 30) as s: s.sendall(b"GET / HTTP/1.1\r\nHost: " + name + b"\r\n\r\n"); s.recv(512)
def hello(name):
    sni = struct.pack("!HBH", len(name) + 3, 0, len(name)) + name
    body = b"\3\3" + bytes(32) + b"\0" + b"\0\2\x13\1" + b"\1\0" + struct.pack("!HHH", len(sni) + 4, 0, len(sni)) + sni
    body = b"\1" + struct.pack("!I", len(body))[1:] + body
    with socket.create_connection(("echo.example", 443), 30) as s: s.sendall(b"\x16\3\1" + struct.pack("!H", len(body)) + body); s.recv(512)
for name in eval(sys.stdin.read()):
    for say in dns, http, hello: try_it(lambda: say(name))
print("said")
'''

with Internet() as net:
    net.dns.names["echo.example"] = net.dns.names["mute.example"] = ["93.184.216.24"]
    listener = net.listen("93.184.216.24", 9000, echo)
    plain = net.listen("93.184.216.24", 80, page("page"))
    secure = net.tls("93.184.216.24", 443, ["echo.example"], page("page"))

    def run_spec(document, *command):
        path = os.path.join(tmpdir(), "spec.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write(document if isinstance(document, str) else json.dumps(document))
        os.chmod(path, 0o644)
        return net.pinfold("run", "--spec", path, "@host", *command)

    PY = ("/usr/bin/python3", "-c")
    run = run_spec({"egress": {"allow": ["echo.example:9000"]}}, *PY, CONNECT, "echo.example@9000")
    is_((run.out, run.guarantee("egress")["state"]), (b"hi\n", "enforced"), "the control: a list with a rule opens it", run)
    for what, document in (("an empty list", {"egress": {"allow": []}}), ("an empty object", {"egress": {}}), ("nothing", {})):
        run = run_spec(document, *PY, CONNECT, "echo.example@9000", "93.184.216.24@9000", "198.18.1.0@9000", "198.18.0.1@53")
        is_((run.out.split(), run.result["egress"]), ([b"unknown", b"ENETUNREACH", b"ENETUNREACH", b"ENETUNREACH"], []), f"{what} opens nothing", run)
    for what, document in (("null", {"egress": {"allow": None}}), ("a string", {"egress": {"allow": "echo.example:9000"}}), ("an asterisk", {"egress": {"allow": ["*:443"]}}),
                           ("an empty rule", {"egress": {"allow": [""]}}), ("a broken document", '{"egress": {"allow": ["echo.example:9000"]'),
                           ("one rule that is wrong beside a good one", {"egress": {"allow": ["echo.example:9000", "evil.example"]}})):
        run = run_spec(document, "/bin/echo", "started")
        is_((run.code, run.out), (125, b""), f"{what} refuses the run", run)

    folder = tmpdir("root")
    os.makedirs(os.path.join(folder, "bin"))
    alone = shutil.copy(os.path.join(BUILD, "bin/pinfold"), os.path.join(folder, "bin/pinfold"))
    run = net.pinfold("run", "@host", "/bin/echo", "started", program=alone)
    is_(run.out, b"started\n", "a pinfold without its broker runs what needs none", run)
    run = net.pinfold("run", "--allow", "echo.example:9000", "@host", "/bin/echo", "started", program=alone)
    is_((run.code, run.out), (125, b""), "and starts nothing that does", run)
    like(run.message, "pinfold-egress", "it says what is missing")

    before = len(listener.hits)
    net.address("93.184.216.99")
    net.name_servers("93.184.216.99")
    run = net.pinfold("run", "--allow", "echo.example:9000", "@host", *PY, CONNECT, "echo.example@9000")
    is_((run.out, [(row["verdict"], row["reason"]) for row in run.result["egress"]]), (b"ECONNRESET\n", [("failed", "the name servers do not answer")]),
        "a name server that is dead: a reset, and the reason", run)
    is_(len(listener.hits), before, "nothing was connected to")
    net.name_servers(net.GATEWAY)

    # ---- what the program says is text to whoever reads of it ----
    run = net.pinfold("run", "--allow", "echo.example:80,443", "--events", "fd:2", "--stdin", "-", "@host", *PY, SPEAK, stdin=repr(HOSTILE).encode())
    is_(run.out, b"said\n", "names in which controls, quotes and other alphabets stand are asked for, in DNS, Host and TLS", run)
    texts = [str(row[key]) for row in run.result["egress"] for key in ("name", "rule", "reason")]
    is_([text for text in texts if not (text.isascii() and text.isprintable())], [], "no byte of theirs is in the result as it was", run)
    is_({row["verdict"] for row in run.result["egress"]} - {"failed"}, {"denied"}, "all are denied", run)
    ok(sum(row["count"] for row in run.result["egress"] if row["transport"] == "dns") == len(HOSTILE), "all questions are listed", run)
    is_([byte for byte in run.err if byte < 32 and byte != 10 or byte > 126], [], "nor in the events")
    is_((plain.hits, secure.hits), ([], []), "and no server heard of them")

    # ---- there is one route, and it is no proxy: what asks for a tunnel is judged as all else ----
    PROXIES = {"SOCKS 4": b"\4\1\x23\x28\x5d\xb8\xd8\x18\0", "SOCKS 4a": b"\4\1\x23\x28\0\0\0\1u\0evil.example\0", "SOCKS 5, a name": b"\5\1\0\5\1\0\3\x0cevil.example\x23\x28",
               "SOCKS 5, an address": b"\5\1\0\5\1\0\1\x5d\xb8\xd8\x18\x23\x28", "SOCKS 5, BIND": b"\5\1\0\5\2\0\1\0\0\0\0\x23\x28", "SOCKS 5, UDP": b"\5\1\0\5\3\0\1\0\0\0\0\x23\x28",
               "CONNECT": b"CONNECT evil.example:9000 HTTP/1.1\r\nHost: evil.example:9000\r\n\r\n", "CONNECT to the name": b"CONNECT echo.example:443 HTTP/1.1\r\nHost: echo.example:443\r\n\r\n",
               "a PROXY line": b"PROXY TCP4 10.0.0.1 93.184.216.24 1 9000\r\nGET / HTTP/1.1\r\nHost: echo.example\r\n\r\n",
               "a PROXY header": b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\x0a\0\0\1\x5d\xb8\xd8\x18\0\1\x23\x28"}
    SAY = r"""
import socket, sys
for what, said in eval(sys.stdin.read()).items():
    for port in map(int, sys.argv[1:]):
        with socket.create_connection(("echo.example", port), 20) as s:
            got = b""
            try:
                s.sendall(said)
                try: s.shutdown(socket.SHUT_WR)
                except OSError: pass  # the reset was faster
                while data := s.recv(4096): got += data
                print(what, port, "echo" if got == said else "answer")
            except OSError: print(what, port, "reset")
"""
    run = net.pinfold("run", "--allow", "echo.example:80,443,9000", "--stdin", "-", "@host", *PY, SAY, "80", "443", "9000", stdin=repr(PROXIES).encode())
    is_(run.out.decode().splitlines(), [f"{what} {port} {'echo' if port == 9000 else 'reset'}" for what in PROXIES for port in (80, 443, 9000)],
        "SOCKS, CONNECT and PROXY mean nothing: on 80 and 443 they are cut, elsewhere they are bytes", run)
    is_(sum(row["count"] for row in run.result["egress"] if row["verdict"] == "denied"), 2 * len(PROXIES), "each that was cut is listed", run)
    is_((plain.hits, secure.hits), ([], []), "and came to no server")

    # ---- with the program its connections end ----
    ends = []
    for what, flags, program in (("the program's end", (), ""), ("a limit", ("--output", "10"), "print('y' * 100, flush=True); import time; time.sleep(50)"), ("a signal", (), "import os; os.kill(os.getpid(), 9)")):
        ended = threading.Event()

        def hold(connection, _, ended=ended):
            """Says that it is there, and when the other side is gone."""
            connection.sendall(b"x")
            try:
                while connection.recv(100):
                    pass
            except ConnectionResetError:
                pass
            ended.set()
        port = 9100 + len(ends)
        ends.append(net.listen("93.184.216.24", port, hold))
        run = net.pinfold("run", *flags, "--allow", f"echo.example:{port}", "@host", *PY,
                          f"import socket\ns = socket.create_connection(('echo.example', {port})); s.recv(1); s.sendall(b'y' * 100)\n" + program)
        is_((len(ends[-1].hits), [(row["verdict"], row["sent_bytes"], row["received_bytes"]) for row in run.result["egress"]]), (1, [("allowed", 100, 1)]),
            f"{what}: the connection's bytes are counted", run)
        ok(ended.wait(60), f"{what}: and the server sees its end", run)

    def drink(connection, _):
        while connection.recv(1 << 16):
            pass
    net.listen("93.184.216.24", 9200, drink)
    run = net.pinfold("run", "--allow", "echo.example:9200", "--egress-bytes", "1M", "@host", *PY,
                      "import socket, time\ns = socket.create_connection(('echo.example', 9200))\ntry:\n    while True: s.sendall(bytes(10000))\nexcept OSError: time.sleep(50)")
    is_((run.status, run.code, sum(row["sent_bytes"] for row in run.result["egress"])), ("egress-limit", 124, 1 << 20), "upwards too --egress-bytes is exact", run)
done()
