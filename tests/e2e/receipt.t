#!/usr/bin/python3
"""AR13: the result is a receipt: what left the sandbox by stdout, stderr, artifacts and the network is as many bytes as the
result says, with the digests that it says, and no byte more."""
import hashlib
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

PROGRAM = """
import os, sys
sys.stdout.write("o" * 12345); sys.stderr.write("e" * 777)
open("a", "wb").write(os.urandom(100000)); open("b", "wb").write(b""); os.truncate("b", 5000000); open("c", "w").write("{")
open("d", "w").write("x"); os.symlink("a", "l"); open("undeclared", "w").write("secret")
"""


def check(run, out, sent):
    rows = run.result["artifacts"]
    stored = {name: open(os.path.join(out, name), "rb").read() for name in os.listdir(out)}
    kept = {row["file"]: (row["size"], row["sha256"]) for row in rows if row["status"] != "rejected"}
    is_(kept, {name: (len(data), hashlib.sha256(data).hexdigest()) for name, data in stored.items()}, "artifacts: each with its size and its digest, and no other file", run)
    is_([(row["size"] is None or row["file"] is None, row["file"]) for row in rows if row["status"] == "rejected"], [(True, None)] * (len(rows) - len(kept)), "what was rejected is nowhere")
    streams = run.result["output"]
    is_((streams["stdout"]["bytes"], streams["stdout"]["sha256"]), (len(run.out), hashlib.sha256(run.out).hexdigest()), "stdout")
    relayed = run.err[run.err.index(b"e" * 777):][:777]
    is_((streams["stderr"]["bytes"], streams["stderr"]["sha256"]), (777, hashlib.sha256(relayed).hexdigest()), "stderr, pinfold's own lines apart", run)
    said = streams["stdout"]["bytes"] + streams["stderr"]["bytes"] + sum(size for size, _ in kept.values()) + sum(row["sent_bytes"] for row in run.result["egress"])
    is_(said, len(run.out) + 777 + sum(map(len, stored.values())) + sent, "the sum is what came out")


out = os.path.join(tmpdir(), "out")
ARTIFACTS = ["--artifact", "?:required", "--artifact", "c:type=json", "--artifacts-dir", out]
run = pinfold("run", *ARTIFACTS, "@host", "python3", "-c", PROGRAM)
check(run, out, 0)
is_(run.result["egress"], [], "without --allow nothing else leaves")

try:
    from egress_net import Internet
    net = Internet()
except (ImportError, OSError, RuntimeError) as why:
    skip(1, f"no network of the test's own: {why}")
    done()
    sys.exit(0)
taken = []


def count(connection, _):
    while data := connection.recv(65536):
        taken.append(len(data))


with net:
    net.dns.names["sink.example"] = ["93.184.216.20"]
    net.listen("93.184.216.20", 9000, count)
    out = os.path.join(tmpdir(), "out")
    ARTIFACTS[-1] = out
    run = net.pinfold("run", *ARTIFACTS, "--allow", "sink.example:9000", "@host", "python3", "-c", PROGRAM +
                      "import socket\nfor n in (1, 4096, 100000):\n    s = socket.create_connection(('sink.example', 9000)); s.sendall(bytes(n)); s.shutdown(socket.SHUT_WR)\n    while s.recv(1): pass\n")
    check(run, out, 104097)
    is_(sum(taken), 104097, "which is what the peer was given")
done()
