#!/usr/bin/python3
"""A matrix runs the stages that name a parameter once for each combination, as many at a time as there are slots, and the others once."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from jobs import Jobs, stage
from pf import *

jobs = Jobs()
slim = busybox_image()
DOC = {"image": slim, "stages": [
    stage("once", "sh", "-c", "head -c 8 /dev/urandom | od -An -tx1 > o", outputs=["o"]),
    stage("make", "sh", "-c", "echo $0 $B $(cat /run/input/o) > r", "@{a}", env=["B=<@{b}>"], inputs={"read-only": ["@once"]}, outputs=["r"]),
    stage("use", "cat", "/run/input/r", inputs={"read-only": ["@make"]}),
    stage("apart", "echo", "@@{a}")],
    "matrix": {"parameters": {"a": ["x", "y y", 3], "b": [True, 0.5]}, "slots": 1}}
job = jobs.run(DOC)
is_(job.status, "succeeded", "it succeeds", job)
is_([len(jobs_of) for jobs_of in map(job.stages, ("once", "make", "use", "apart"))], [1, 6, 6, 1], "each as often as it has to")
want = [(a, b) for a in ("x", "y y", "3") for b in ("true", "0.5")]
is_([(one["set"]["a"], one["set"]["b"]) for one in job.stages("make")], want, "in the order of the document")
lines = [line.split("<") for line in job.err.decode().split("\n") if "<" in line]
is_([(line[0].strip(), line[1].split(">")[0]) for line in lines], want, "with the values in command and environment, and each use gets what its own make gave")
is_((len({line[1].split(">")[1] for line in lines}), job.out), (1, b"@{a}\n"), "what does not vary ran once; an escaped mark is none", job)

job = jobs.run({"image": slim, "stages": [stage("a", "sh", "-c", "exit @{n}"), stage("b", "true")], "matrix": {"parameters": {"n": [0, 1, 2]}}})
is_((job.status, job.states()), ("failed", [("a", "ran", True), ("a", "ran", False), ("a", "skipped", False), ("b", "skipped", False)]), "one that fails ends it", job)
GOES_ON = {"image": slim, "stages": [stage("a", "sh", "-c", "echo @{n} > o; exit @{n}", outputs=["o"]), stage("b", "cat", "/run/input/o", inputs={"read-only": ["@a"]})],
           "matrix": {"parameters": {"n": [0, 1, 2]}, "keep-going": True}}
job = jobs.run(GOES_ON)
is_(([one["ok"] for one in job.stages("a")], job.stages("b")[0]["ok"]), ([True, False, False], True), "and what follows the good one", job)

is_([one["state"] for one in job.stages("b")], ["ran", "skipped", "skipped"], "what takes from one that failed is not begun, though its output is there", job)
like(job.stages("b")[1]["message"], "stage a, from which it takes, was not ok", "and says why")
CHAIN = {"image": slim, "stages": [*GOES_ON["stages"][:1], stage("b", "sh", "-c", "cp /run/input/o p", inputs={"read-only": ["@a"]}, outputs=["p"]), stage("c", "cat", "/run/input/p", inputs={"read-only": ["@b"]}),
                                   stage("apart", "echo", "apart")], "matrix": GOES_ON["matrix"]}
job = jobs.run(CHAIN)
is_(([[one["state"] for one in job.stages(name)] for name in "bc"], job.stage("apart")["state"], job.code, job.result["cause"]["stage"]),
    ([["ran", "skipped", "skipped"]] * 2, "ran", 1, "a"), "nor what takes from that; what takes nothing of it runs, and the job failed", job)

# ---- slots: no more at once than there are, together with others of that name ----
NAME = f"sweep-{os.getpid()}"
out = os.path.join(tmpdir(), "out")
job = jobs.run({"image": slim, "stages": [stage("a", "sh", "-c", "echo $$ > mine; exec sleep 2", artifacts={"collect": ["mine"]}, env=["N=@{n}"])],
                "matrix": {"parameters": {"n": list(range(6))}, "slots": f"2:{NAME}"}}, "--artifacts-dir", out)
is_((job.status, sorted(os.listdir(out))), ("succeeded", [f"a.{n}" for n in range(1, 7)]), "six, two at a time, each with a folder of its own", job)
running = most = 0
for event in job.events:
    if event["what"] in ("started", "ended"):
        running += 1 if event["what"] == "started" else -1
        most = max(most, running)
is_(most, 2, "never more than two", job)
is_(job.stage("a")["result"]["status"], "exited", "through the slots of runs")
ok(all(len(one["set"]) == 1 for one in job.stages("a")), "each with its values")
with start("run", "--slots", f"1:{NAME}", "--stdin", "-", slim, "sh", "-c", "echo up; read x", stdin=subprocess.PIPE, env=jobs.env) as holder:
    holder.line()
    with jobs.start({"image": slim, "stages": [stage("a", "echo", "ran @{n}")], "matrix": {"parameters": {"n": [1, 2]}, "slots": f"1:{NAME}"}}) as running:
        places = jobs.places
        wait_for(lambda: b'"queued"' in open(places[1], "rb").read() if os.path.exists(places[1]) else False, what="a place in the line")
        ok(b"ran" not in open(places[1], "rb").read(), "a run of somebody else that holds the slot is waited for")
        holder.process.stdin.write(b"go\n")
        holder.process.stdin.flush()
        job = jobs.finished(running, places)
is_((job.status, job.out), ("succeeded", b"ran 1\nran 2\n"), "and when it is free the combinations run", job)
job = jobs.run({"image": "@host", "stages": [stage("a", "echo", "@@{", "@@{x}", "@{")]})
is_(job.out, b"@{ @{x} @{\n", "@@{ is @{, with an end and without", job)
done()
