#!/usr/bin/python3
"""A resolver of the egress broker that was taken over gets no socket but the name servers', and what it says of an allowed name is judged as any answer."""
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet, echo, own
from host import broker_of
from pf import *

ANSWERED = {"server": "93.184.216.10", "other-server": "93.184.216.11", "connect": "93.184.216.11", "home": "93.184.216.11", "reply": "93.184.216.11", "sendto": "93.184.216.11"}
REFUSED = {"loopback": "127.0.0.1", "metadata": "169.254.169.254", "mapped": "64:ff9b::7f00:1"}
ENDED = ["socket", "open", "unasked", "huge"]
TALK = r"""
import socket, sys, errno
try:
    s = socket.create_connection((sys.argv[1], 7000), 20); s.sendall(b"hi"); print(s.recv(2).decode())
except OSError as e: print(errno.errorcode[e.errno])
if len(sys.argv) > 2: sys.stdin.readline()
"""

# A pinfold beside whose libexec stands the hostile broker.
folder = tmpdir("root")
for part in ("bin", "libexec/pinfold"):
    os.makedirs(os.path.join(folder, part))
program = shutil.copy(os.path.join(BUILD, "bin/pinfold"), os.path.join(folder, "bin/pinfold"))
shutil.copy(os.path.join(BUILD, "tests/attack/hostile-names"), os.path.join(folder, "libexec/pinfold/pinfold-egress"))

with Internet() as net:
    for address in "93.184.216.10", "93.184.216.11":
        net.listen(address, 7000, echo)
    home = net.listen("127.0.0.1", 7000, echo, holder=net.home)

    def attempt(name):
        return net.pinfold("run", "--allow", "*.names.example:7000", "@host", "/usr/bin/python3", "-c", TALK, f"{name}.names.example", program=program)

    for name, address in ANSWERED.items():
        run = attempt(name)
        is_((run.out, [(row["address"], row["verdict"]) for row in run.result["egress"]]), (b"hi\n", [(address, "allowed")]),
            f"{name}: {'the control, what it is there for' if name == 'server' else 'it gets no descriptor'}", run)
    for name, address in REFUSED.items():
        run = attempt(name)
        row = run.result["egress"][0]
        is_((run.out, row["address"], row["verdict"]), (b"ECONNRESET\n", address, "denied"), f"{name}: an allowed name is not where it says", run)
    for name in ENDED:
        mark = own(name)
        with net.start("run", "--id", mark, "--stdin", "-", "--allow", "*.names.example:7000", "@host", "/usr/bin/python3", "-uc", TALK, f"{name}.names.example", "wait",
                       program=program, stdin=-1) as running:
            line = running.line()
            wait_for(lambda m=mark: broker_of(m) == [])
            run = running.wait(stdin=b"\n")
        is_((line, run.status, [w for w in run.result["warnings"] if "broker died" in w] != []), ("ECONNRESET", "exited", True),
            f"{name}: ends the broker, and the run goes on without a network", run)
    is_(home.hits, [], "the host's loopback was not reached")
    is_(net.dns.log, [], "no name server was asked")
done()
