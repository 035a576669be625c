#!/usr/bin/python3
"""As many rules as there may be, as many ports, hundreds of names below a wildcard, and more of them at once than are looked up at once: each gets its connection."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet, echo
from pf import *

AT_ONCE, IN_TURN = 200, 1200  # more than are looked up at once, and than the dialer remembers: docs/egress.md
OTHERS = "and others that have no row of their own"
TALK = f"""
import socket, threading
said = []
def one(i):
    try:
        with socket.create_connection((f"n{{i}}.wide.example", 9000), 30) as s: s.sendall(b"hi"); said.append(s.recv(2).decode())
    except OSError as e: said.append(str(e))
threads = [threading.Thread(target=one, args=(i,)) for i in range({AT_ONCE})]
for t in threads: t.start()
for t in threads: t.join()
print(len(said), set(said))
for i in range({AT_ONCE}, {AT_ONCE + IN_TURN}): one(i)
print(len(said), set(said))
one({AT_ONCE + IN_TURN - 1})
one(0)
print(len(said), set(said))
"""
FEW = """
import socket
for name in ("r0", "r19999", "r20000"):
    try:
        with socket.create_connection((name + ".rules.example", 9000), 30) as s: s.sendall(b"hi"); print(s.recv(2).decode())
    except OSError as e: print(e.errno)
"""
with Internet() as net:
    for i in range(AT_ONCE + IN_TURN):
        net.dns.names[f"n{i}.wide.example"] = ["93.184.216.24"]
    server = net.listen("93.184.216.24", 9000, echo)
    run = net.pinfold("run", "--allow", "*.wide.example:9000", "--allow", "tcp:other.example:8000-8126", "--allow", "udp:other.example:8000-8127",
                      "--egress-connections", "256", "--nofile", "2048", "--pids", "512", "@host", "/usr/bin/python3", "-c", TALK, timeout=100)
    is_(run.out.decode().splitlines(), [f"{AT_ONCE} {{'hi'}}", f"{AT_ONCE + IN_TURN} {{'hi'}}", f"{AT_ONCE + IN_TURN + 2} {{'hi'}}"],
        "names at once, one after the other, and those that were asked for first and last once more", run)
    is_((len(server.hits), len(net.dns.asked)), (AT_ONCE + IN_TURN + 2, AT_ONCE + IN_TURN), "the server saw each connection, the name server each name", run)
    rows = run.result["egress"]
    is_((len([row for row in rows if row["name"]]), {(row["verdict"], row["rule"]) for row in rows if row["name"]}), (128, {("allowed", "*.wide.example:9000")}),
        "the result has as many rows as there may be", run)
    others = [row for row in rows if not row["name"]]
    is_([{key: row[key] for key in ("transport", "rule", "address", "port", "verdict", "reason", "errno")} for row in others],
        [{"transport": "tcp", "rule": None, "address": None, "port": None, "verdict": "allowed", "reason": OTHERS, "errno": None}], "and one for the others", run)
    is_([sum(row[key] for row in rows) for key in ("count", "sent_bytes", "received_bytes")], [AT_ONCE + IN_TURN + 2] + 2 * [2 * (AT_ONCE + IN_TURN + 2)],
        "they count each connection and each byte", run)
    is_([row["count"] for row in others], [run.result["egress_more"]], "egress_more says how many are in it", run)
    # As many rules as there may be, in no order, and one more.
    rules = [f"r{i * 7919 % 20000}.rules.example:9000" for i in range(20000)]
    for i in (0, 19999):
        net.dns.names[f"r{i}.rules.example"] = ["93.184.216.24"]
    spec = os.path.join(tmpdir(), "spec.json")
    for more in ([], ["one.more.example:9000"]):
        with open(spec, "w", encoding="ascii") as file:
            json.dump({"egress": {"allow": rules + more}}, file)
        run = net.pinfold("run", "--spec", spec, "@host", "/usr/bin/python3", "-c", FEW, timeout=100)
        if more:
            ok(run.status == "refused" and "20000 rules" in run.message, "one rule more is refused", run)
        else:
            is_((run.out.decode().split(), sorted(row["rule"] or "" for row in run.result["egress"])), (["hi", "hi", "-2"], ["", "r0.rules.example:9000", "r19999.rules.example:9000"]),
                "20,000 rules: the first and the last let a name through, and nothing else", run)
done()
