#!/usr/bin/python3
"""The small configurations run first; the full one runs only if what it will take lies within what was approved, and never by itself."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from jobs import Jobs, stage
from pf import *

jobs = Jobs()
slim = busybox_image()


def document(**cost):
    return {"image": slim, "stages": [stage("once", "sh", "-c", "echo 1 > o", kind="build", outputs=["o"]),
                                      stage("work", "sh", "-c", "cat /run/input/o; head -c $(( $0 * 10000 )) /dev/zero > r; echo done $0", "@{n}", inputs={"read-only": ["@once"]},
                                            artifacts={"collect": ["r"]})],
            "cost": {"configurations": [{"scale": 1, "set": {"n": 1}}, {"name": "small", "scale": 2, "set": {"n": 2}}, {"scale": 4, "set": {"n": 4}}],
                     "full": {"scale": 100, "set": {"n": 100}}, **cost}}


def run(cost, *flags):
    return jobs.run(document(**cost), "--artifacts-dir", os.path.join(tmpdir(), "out"), *flags)


def configurations(job):
    return [(one["name"], one["configuration"]) for one in job.result["stages"]]


SMALL = [("once", None), ("work", "1"), ("work", "small"), ("work", "4")]
job = run({})
is_((job.code, job.status, configurations(job), job.out), (3, "needs-approval", SMALL, b""), "nothing approved: the small ones run, the full one does not", job)
cost = job.result["cost"]
is_([(point["configuration"], point["scale"]) for point in cost["points"]], [("1", 1), ("small", 2), ("4", 4)], "each is a point", job)
ok(all(point["measured"]["wall_usec"] > 0 for point in cost["points"]), "that was measured")
estimate = cost["estimate"]["scratch_bytes"]
ok(estimate["low"] <= estimate["value"] <= estimate["high"] and estimate["high"] > 500000, "the estimate is there, with its interval", job)
is_((cost["approved"], cost["by"], cost["measured"], cost["over"]), (None, None, None, []), "and nothing that did not happen", job)
ok("nothing was approved" in job.message, "it says so", job)
for nothing in ("", ",", "wall=none", "wall=none,memory=none"):
    job = run({}, "--approve", nothing)
    is_((job.code, job.status, job.result["stages"]), (125, "refused", []), f"--approve {nothing!r} approves nothing, and not everything", job)
job = run({}, "--approve", "wall=1ms,scratch=1K")
is_((job.code, job.status, job.result["cost"]["over"]), (3, "needs-approval", ["wall", "scratch"]), "less than it may take: it does not run", job)
like(job.message, r"may take wall [0-9.]+ m?s \(approved 1 ms\), scratch [0-9.]+ [KM]iB \(approved 1 KiB\)$", "and figures are in units in which they are some")
job = run({}, "--approve", "wall=1ms,wall=1h")
is_((job.code, job.status), (125, "refused"), "nor is a quantity approved twice", job)
# Runs of milliseconds say little of a hundred times as much: what is approved of time is far beyond any hiccup of a busy machine.
job = run({"budget": {"wall": "100h", "scratch": "64M"}})
is_((job.status, configurations(job), job.out), ("succeeded", SMALL + [("work", "full")], b"1\ndone 100\n"), "within what the document approves: the full one runs", job)
cost = job.result["cost"]
is_((cost["by"], cost["approved"]["wall_usec"], cost["approved"]["memory_bytes"]), ("document", 360000000000, None), "by whom", job)
within(cost["measured"]["scratch_bytes"], 1000000, 1100000, "estimate beside measurement")
job = run({"budget": {"scratch": "100K"}})
is_((job.status, job.result["cost"]["over"], configurations(job)), ("needs-approval", ["scratch"], SMALL), "more than that: it does not run", job)
job = run({"budget": {"scratch": "100K"}}, "--approve", "scratch=64M,wall=100h")
is_((job.status, job.result["cost"]["by"]), ("succeeded", "flag"), "--approve stands instead of what the document approves", job)
job = run({"budget": {"scratch": "64M"}}, "--approve", "scratch=100K")
is_(job.status, "needs-approval", "also where it is less", job)
for wrong in ("x", "wall=1", "wall=10m;scratch=1M"):
    job = run({}, "--approve", wrong)
    is_((job.code, job.status), (125, "refused"), f"--approve {wrong} is refused", job)
job = jobs.run({"image": slim, "stages": [stage("a", "true")]}, "--approve", "wall=1s")
is_((job.code, job.status), (125, "refused"), "--approve without cost too", job)
FAILS = document(budget={"wall": "100h"})
FAILS["stages"][1]["command"] = ["sh", "-c", "test $0 != 2", "@{n}"]
job = jobs.run(FAILS, "--artifacts-dir", os.path.join(tmpdir(), "out"))
is_((job.status, configurations(job), job.result["cost"]["estimate"]), ("failed", SMALL[:3], None), "a small one that fails ends it", job)
ONE = document(budget={"wall": "100h"})
ONE["cost"]["configurations"] = ONE["cost"]["configurations"][:1]
job = jobs.run(ONE, "--artifacts-dir", os.path.join(tmpdir(), "out"))
is_((job.status, job.result["cost"]["estimate"]["wall_usec"]["method"]), ("succeeded", "linear"), "one point: linear, and said so", job)

# ---- the upper end decides, not the estimate ----
ends = run({}).result["cost"]["estimate"]["scratch_bytes"]
for most, status in ((ends["value"], "needs-approval"), (ends["high"] - 1, "needs-approval"), (ends["high"], "succeeded")):
    job = run({"budget": {"scratch": str(most)}})
    is_((job.status, job.result["cost"]["estimate"]["scratch_bytes"]), (status, ends), f"{most} bytes of {ends['low']} to {ends['high']} are approved", job)

# ---- a point is all stages that vary, one after the other: times add up, memory and scratch are had again ----
SEVERAL = document()
SEVERAL["stages"] += [stage("more", "sh", "-c", "x=$(head -c $(( $0 * 1000000 )) /dev/zero | tr '\\0' y); i=0; while [ $i -lt 20000 ]; do i=$(( i + 1 )); done; head -c 9 /dev/zero > r", "@{n}"),
                      stage("steady", "sh", "-c", "head -c 900000 /dev/zero > r")]
job = jobs.run(SEVERAL, "--artifacts-dir", os.path.join(tmpdir(), "out"))


def usages(configuration):
    return [one["result"]["usage"] for one in job.result["stages"] if one["configuration"] == configuration]


for point in job.result["cost"]["points"]:
    rows, got = usages(point["configuration"]), point["measured"]
    is_(len(rows), 2, f"{point['configuration']}: two stages vary", job)
    is_(got["wall_usec"], sum(row["wall_usec"] for row in rows), "wall times add up", job)
    is_(got["cpu_usec"], sum(row["cpu_user_usec"] + row["cpu_system_usec"] for row in rows), "so do those of the processor, the kernel's too", job)
    for name, key in ("memory_bytes", "memory_peak_bytes"), ("scratch_bytes", "scratch_bytes"):
        is_(got[name], None if any(row[key] is None for row in rows) else max(row[key] for row in rows), f"of {key} the larger one counts", job)
SMALL = {"configurations": [{"scale": 1, "set": {"n": 1}}], "full": {"scale": 2, "set": {"n": 2}}}
job = jobs.run({"image": "@host", "cost": SMALL, "stages": [stage("a", "sh", "-c", "exit @{n}"), stage("b", "true"), stage("c", "echo", "@{n}")]})
is_(job.states(), [("a", "ran", False), ("b", "skipped", False), ("c", "skipped", False)], "stages that were not begun stand in the result", job)
job = jobs.run({"image": "@host", "cost": {**SMALL, "full": {"scale": 2, "set": {"n": "1"}}}, "stages": [stage("a", "echo", "@{n}")]})
ok(job.code == 125 and "values of the full one" in job.message and not job.result["stages"], "a small configuration that is the full one is refused", job)
done()
