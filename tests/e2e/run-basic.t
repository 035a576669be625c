#!/usr/bin/python3
"""A run from end to end: the program's output comes through, its document is valid and complete, nothing is left."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
import host
from pf import *

mark = "basic-" + os.urandom(6).hex()
tree = tiny()
before = host.Snapshot(tree)
run = pinfold("run", "--id", mark, "--env", f"MARK={mark}", tree, "/bin/payload",
              "echo", "out", ",", "spam", "stderr", "5", ",", "exit", "0", events=True)
is_((run.code, run.out, run.err[:5]), (0, b"out\n", b"abcde"), "exit code and both streams come through", run)

result = run.result
is_((result["status"], result["ok"], result["exit"]), ("exited", True, {"code": 0, "signal": None}), "the verdict")
is_((result["schema"], result["id"]), ("pinfold.result/1", mark), "schema and id")
is_(result["cause"], {"limit": None, "stage": None, "message": None, "evidence": {}}, "no cause: it just ended")
# sha256sum of "out\n" and of "abcde".
is_((result["output"]["stdout"]["bytes"], result["output"]["stdout"]["sha256"]),
    (4, "54034ac5c6e9ea95734ec2b729fd6d62abf64af34a9f9ce5d466cb788191a73d"), "stdout is counted and digested")
is_((result["output"]["stderr"]["bytes"], result["output"]["stderr"]["sha256"]),
    (5, "36bbe50ed96841d10443bcb670d6554f0a34b761be67ec9c4a8ad2c0c44ca42c"), "stderr is counted and digested")
within(result["usage"]["wall_usec"], 1, int(run.seconds * 1e6), "wall time is within what was measured outside")
is_(result["host"]["kernel"], os.uname().release, "the kernel is named")
rows = [row["name"] for row in result["guarantees"]]
is_(len(rows), len(set(rows)), "each guarantee has one row")
is_([row["name"] for row in result["guarantees"] if row["state"] == "degraded" and not row["not_covered"]], [],
    "a degraded guarantee says what is not covered")
kinds = [event["event"] for event in run.events]
is_((kinds.count("started"), kinds.count("ended"), kinds[-1]), (1, 1, "ended"), "one start and one end in the events")

is_(host.processes(mark), [], "no process is left")
is_(before.differences(), [], "the host is as it was")
done()
