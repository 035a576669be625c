#!/usr/bin/python3
"""A job that is told to stop stops, at any point, with a result and nothing left; killed outright it leaves nothing running."""
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from jobs import Jobs, processes, stage
from pf import *

jobs = Jobs()
slim = busybox_image()
MARK = f"31{os.getpid() % 100000:05}"  # a sleep that nobody else sleeps
SLEEP = f"exec sleep {MARK}"


# From the first act on: what comes before anybody looks waits, over the step from one program into the next, too.
libexec = tmpdir()
with open(os.path.join(libexec, "pinfold-job"), "w", encoding="ascii") as file:
    file.write("#!/bin/sh\nexec grep SigBlk /proc/self/status\n")
os.chmod(file.name, 0o755)
for verb, blocked in ("run", 1 << signal.SIGTERM - 1 | 1 << signal.SIGINT - 1 | 1 << signal.SIGHUP - 1 | 1 << signal.SIGQUIT - 1), ("check", 0):
    run = pinfold("job", verb, env={"PINFOLD_EXEC_PATH": libexec})
    is_(int(run.out.split()[1], 16), blocked, f"job {verb} begins with what would stop it {'held' if blocked else 'free'}", run)


def sleepers():
    return processes("sleep", MARK)


def gone():
    wait_for(lambda: not sleepers(), what="the end of what ran")
    return jobs.leavings()


source = tmpdir()
open(os.path.join(source, "f"), "w").close()
LONG = {"image": slim, "source": {"folder": source}, "analyse": "none",
        "stages": [stage("a", "sh", "-c", "echo up; " + SLEEP, inputs={"read-only": ["@source"]}), stage("b", "true")]}
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    with jobs.start(LONG, stderr=subprocess.STDOUT) as running:
        places = jobs.places
        while running.line() != "up":
            pass
        ok(wait_for(sleepers, what="the sleep"), "it runs")
        running.signal(number)
        job = jobs.finished(running, places)
    is_((job.code, job.status, job.states()), (4, "cancelled", [("fetch", "ran", True), ("a", "ran", False), ("b", "skipped", False)]), f"{number.name}: cancelled", job)
    is_((job.stage("a")["result"]["status"], gone()), ("cancelled", []), "the stage's result says so, and nothing is left", job)

# ---- a program that does not listen ----
with jobs.start({"image": slim, "stages": [stage("a", "sh", "-c", "trap '' TERM; echo up; sleep " + MARK + "; sleep " + MARK, grace="300ms")]}, stderr=subprocess.STDOUT) as running:
    places = jobs.places
    while running.line() != "up":
        pass
    running.signal(signal.SIGTERM)
    job = jobs.finished(running, places)
is_((job.status, gone()), ("cancelled", []), "one that ignores it is killed after its grace", job)

# ---- a sweep ----
with jobs.start({"image": slim, "stages": [stage("a", "sh", "-c", "echo up @{n}; " + SLEEP)], "matrix": {"parameters": {"n": [1, 2, 3]}, "slots": 2}}) as running:
    places = jobs.places
    wait_for(lambda: len(sleepers()) == 2, what="two of it")
    running.signal(signal.SIGTERM)
    job = jobs.finished(running, places)
is_((job.status, [one["state"] for one in job.stages("a")], gone()), ("cancelled", ["ran", "ran", "skipped"], []), "all that run of a sweep are ended, and no more begin", job)

# ---- at whatever moment ----
DOC = {"image": slim, "source": {"folder": source}, "analyse": "none",
       "stages": [stage("a", "sh", "-c", "echo x > o", outputs=["o"]), stage("b", "sh", "-c", SLEEP, inputs={"copy": ["@a"]})]}
for number, what in ((signal.SIGTERM, "cancelled"), (signal.SIGKILL, None)):
    bad = []
    for i in range(16):
        with jobs.start(DOC) as running:
            places = jobs.places
            time.sleep(0.004 * i)  # a moment, whichever: nothing is measured
            running.signal(number)
            try:
                code = running.process.wait(60)
            except subprocess.TimeoutExpired:
                bad.append((i, "it does not end"))
                continue
            if what:
                # Before main() blocks signals it is ended like any program; then there is nothing yet.
                job = jobs.finished(running, places) if os.path.exists(places[0]) else None
                if code != -number and (job is None or job.status != what):
                    bad.append((i, code, str(job)))
        wait_for(lambda: not sleepers(), what="the end of what ran")
    is_(bad, [], f"{number.name} at sixteen moments: a result, and nothing runs")
# A process of a killed job that is dying still holds its work folder, of which nothing tells.
wait_for(lambda: jobs.verb("gc").code == 0 and not jobs.leavings(), what="gc to take what killed ones left")
is_(gone(), [], "and gc takes what killed ones left")

# ---- whoever called is gone ----
script = f"import subprocess, sys; subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=open({os.path.join(tmpdir(), 'out')!r}, 'w'), stderr=subprocess.STDOUT); import time; time.sleep(1000)"
folder = tmpdir()
document = jobs.document({"image": slim, "stages": [stage("a", "sh", "-c", SLEEP)]})
with start("python3", "-c", script, program_path(), "job", "run", "--result", os.path.join(folder, "r.json"), document, program="/usr/bin/env", env=jobs.env) as caller:
    wait_for(sleepers, what="a stage")
    caller.process.kill()
    caller.process.wait()
wait_for(lambda: os.path.exists(os.path.join(folder, "r.json")), what="the result of a job whose caller is gone")
is_(gone(), [], "a job whose caller was killed ends, with a result, and leaves nothing")
with jobs.start({"image": slim, "stages": [stage("a", "sh", "-c", "while :; do echo " + "x" * 200 + "; done", output="1G", wall="50s")]}) as running:
    places = jobs.places
    running.line()
    running.process.stdout.close()
    running.process.stdout = None
    job = jobs.finished(running, places)
is_((job.status, gone()), ("cancelled", []), "and one whose output nobody takes any more", job)
done()
