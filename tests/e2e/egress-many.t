#!/usr/bin/python3
"""As many ports as there may be, hundreds of names below a wildcard, and more of them at once than are looked up at once: each gets its connection."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet, echo
from pf import *

AT_ONCE, IN_TURN = 200, 1200  # more than are looked up at once, and than the dialer remembers: docs/egress.md
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
with Internet() as net:
    for i in range(AT_ONCE + IN_TURN):
        net.dns.names[f"n{i}.wide.example"] = ["93.184.216.24"]
    server = net.listen("93.184.216.24", 9000, echo)
    run = net.pinfold("run", "--allow", "*.wide.example:9000", "--allow", "tcp:other.example:8000-8126", "--allow", "udp:other.example:8000-8127",
                      "--egress-connections", "256", "--nofile", "2048", "--pids", "512", "@host", "/usr/bin/python3", "-c", TALK, timeout=100)
    is_(run.out.decode().splitlines(), [f"{AT_ONCE} {{'hi'}}", f"{AT_ONCE + IN_TURN} {{'hi'}}", f"{AT_ONCE + IN_TURN + 2} {{'hi'}}"],
        "names at once, one after the other, and those that were asked for first and last once more", run)
    is_((len(server.hits), len(net.dns.asked)), (AT_ONCE + IN_TURN + 2, AT_ONCE + IN_TURN), "the server saw each connection, the name server each name", run)
    is_((len(run.result["egress"]), run.result["egress_more"]), (128, AT_ONCE + IN_TURN + 2 - 128 - 1), "the result has as many rows as there may be, and counts the rest", run)
done()
