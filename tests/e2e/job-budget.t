#!/usr/bin/python3
"""A budget that jobs share: several at once never spend more than there is, and what a job that was killed had reserved is spent."""
import json
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from jobs import Jobs, stage
from pf import *

jobs = Jobs()
slim = busybox_image()
JOBS, RUNS = 6, 3
FULL = 9


def document(budget, script="echo $0", image=slim):
    """Three small ones, which echo; the full one does what script says."""
    return {"image": image, "stages": [stage("work", "sh", "-c", f"case $0 in {FULL}) {script};; *) echo $0;; esac", "@{n}")],
            "cost": {"configurations": [{"scale": n, "set": {"n": n}} for n in (1, 2, 4)], "full": {"scale": FULL, "set": {"n": FULL}},
                     "budget": {"wall": "100h"}, "budget-file": budget}}


def budget(*limits):
    path = os.path.join(tmpdir(mode=0o700), "budget.json")
    made = jobs.verb("budget", "--create", *limits, path)
    if made.code:
        raise RuntimeError(made.err)
    return path


def state(path):
    return json.loads(jobs.verb("budget", "--json", path).out)


# ---- several at once ----
shared = budget("--runs", str(RUNS))
running = []
for _ in range(JOBS):
    started = jobs.start(document(shared, "echo full"))
    running.append((started, jobs.places))
done_ = [jobs.finished(started, places) for started, places in running]
is_(sorted(job.status for job in done_), ["needs-approval"] * (JOBS - RUNS) + ["succeeded"] * RUNS, f"of {JOBS} jobs at once {RUNS} get what there is", done_[0])
late = next(job for job in done_ if job.status == "needs-approval")
is_((late.code, late.result["cost"]["over"]), (3, ["budget-file"]), "the others need approval", late)
like(late.message, r"has too little left: runs 1 asked, 3 of 3 used or reserved", "and say what is left")
now = state(shared)
is_((now["spent"]["runs"], now["settled"], now["abandoned"], now["reserved"]), (RUNS, RUNS, 0, []), "all of it is spent, and nothing else", str(now))
is_(now["spent"]["cpu_usec"], sum(job.result["cost"]["settled"]["cpu_usec"] for job in done_ if job.status == "succeeded"), "what each measured is the sum")
table = jobs.verb("budget", shared)
like(table.out.decode(), r"(?m)^runs +3 +3 +0 +0$", "for people: limit, spent, reserved, left")

units = os.path.join(tmpdir(mode=0o700), "units.json")
made = jobs.verb("budget", "--create", "--cpu-time", "90m", "--wall", "1500ms", "--memory-hours", "512K", "--runs", "7", "--money", "12.05", units)
rows = {row[0]: row[1:] for row in (line.split() for line in jobs.verb("budget", units).out.decode().split("\n")[1:6])}
is_(rows, {"cpu-time": ["90m", "0s", "0s", "90m"], "wall": ["1.5s", "0s", "0s", "1.5s"], "memory-hours": ["512K", "0", "0", "512K"], "runs": ["7", "0", "0", "7"],
           "money": ["12.05", "0", "0", "12.05"]}, "in the units in which they were said", made)
is_(state(units)["limits"], {"cpu_usec": 5400000000, "wall_usec": 1500000, "memory_mib_usec": 1800000000, "runs": 7, "money_micro": 12050000}, "the document is exact")
with open(units, "w", encoding="ascii") as file:
    json.dump({"schema": "pinfold.budget/1", "limits": {"cpu_usec": 1}, "spent": {"cpu_usec": 3661000001, "memory_mib_usec": 3600000000 * 1536 + 1, "money_micro": 1}}, file)
rows = {row[0]: row[1:] for row in (line.split() for line in jobs.verb("budget", units).out.decode().split("\n")[1:6])}
is_([rows[name] for name in ("cpu-time", "memory-hours", "money")], [["0.000001s", "3661.000001s", "0s", "0s"], ["-", "1.501G", "0", "-"], ["-", "0.000001", "0", "-"]], "what is no round number too", str(rows))
few = budget("--cpu-time", "1us")
job = jobs.run(document(few))
like(job.message, r"has too little left: cpu-time [0-9.]+s asked, 0s of 0\.000001s used or reserved", "and so does a job that gets none")

# ---- a job that is killed ----
MARK = f"32{os.getpid() % 100000:05}"
shared = budget("--runs", "2")
with jobs.start(document(shared, f"echo up; exec sleep {MARK}")) as killed:
    is_(killed.line(), "up", "the full configuration runs")
    held = state(shared)
    is_([error.message for error in load_schema("budget").iter_errors(held)], [], "the file is what its schema says")
    is_((held["spent"]["runs"], len(held["reserved"]), held["reserved"][0]["pid"]), (0, 1, killed.pid), "its upper bound is reserved, by the job", str(held))
    killed.signal(signal.SIGKILL)
    killed.process.wait()
wait_for(lambda: not state(shared)["reserved"], what="the end of the reservation")
now = state(shared)
is_((now["spent"], now["abandoned"], now["settled"]), (held["reserved"][0]["amount"], 1, 0), "killed outright: what it had reserved is spent, all of it", str(now))
job = jobs.run(document(shared, "echo full"))
is_((job.status, state(shared)["spent"]["runs"], state(shared)["abandoned"]), ("succeeded", 2, 1), "the next one goes on with what is left", job)

# ---- a job that is told to stop ----
shared = budget("--runs", "2")
with jobs.start(document(shared, f"echo up; exec sleep {MARK}")) as stopped:
    places = jobs.places
    stopped.line()
    amount = state(shared)["reserved"][0]["amount"]
    stopped.signal(signal.SIGTERM)
    job = jobs.finished(stopped, places)
now = state(shared)
is_((job.status, now["settled"], now["abandoned"], now["reserved"]), ("cancelled", 1, 0, []), "told to stop, it settles", job)
is_(now["spent"]["cpu_usec"], job.result["cost"]["settled"]["cpu_usec"], "for what ran until then", str((now, amount)))

# ---- a stage that comes out of the cache took nothing ----
jobs.image(slim, "slim")
shared = budget("--runs", "2")
first = jobs.run(document(shared, "echo full", "slim"))
second = jobs.run(document(shared, "echo full", "slim"))
is_((first.status, second.status, second.stages("work")[-1]["state"]), ("succeeded", "succeeded", "cached"), "the same once more", second)
is_(second.result["cost"]["settled"], {"cpu_usec": 0, "wall_usec": 0, "memory_mib_usec": 0, "runs": 1}, "costs a run, and nothing else")
is_(state(shared)["spent"]["cpu_usec"], first.result["cost"]["settled"]["cpu_usec"], "which the budget has", str(state(shared)))

# ---- files that are none ----
for mode, says in ((0o644, "closed to others"), (0o600, "budget.json:1:")):
    path = os.path.join(tmpdir(mode=0o700), "budget.json")
    with open(path, "w", encoding="ascii") as file:
        file.write("{")
    os.chmod(path, mode)
    owner = os.stat(os.path.dirname(path))
    os.chown(path, owner.st_uid, owner.st_gid)
    job = jobs.run(document(path))
    ok((job.code, job.status, job.result["stages"]) == (125, "refused", []) and says in job.message, f"{says}: refused, and nothing runs", job)
job = jobs.run({**document(shared + ".none"), "source": {"folder": tmpdir()}, "analyse": "none"})
ok((job.code, job.status, job.result["stages"]) == (125, "refused", []) and "No such file" in job.message, "none at all: refused, before anything is fetched", job)
again = jobs.verb("budget", "--create", "--runs", "1", shared)
ok(again.code == 125 and b"is there already" in again.err, "a budget that is there is not made anew", again)
for words, says in ((["--runs", "1", shared], b"--create"), (["--create", "--money", "1.", shared], b"no amount"), (["--create", shared], b"one limit at least"), ([shared + ".none"], b"No such file")):
    wrong = jobs.verb("budget", *words)
    ok(wrong.code == 125 and says in wrong.err, f"{says.decode()}: refused", wrong)
is_(jobs.leavings(), [], "nothing is left")
done()
