#!/usr/bin/python3
"""A hostile stage cannot reach through what it hands on: not to the host's files, not into other stages, not into the job's result. Each attempt has a control that succeeds where nothing confines it."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from jobs import Jobs, stage
from pf import *

jobs = Jobs()
slim = busybox_image()
SECRET = os.path.join(tmpdir(), "secret")
with open(SECRET, "w", encoding="ascii") as file:
    file.write("the host's secret\n")


def unconfined(script, folder):
    """The same script where nothing holds it, and what it printed."""
    done = subprocess.run(["/bin/busybox", "sh", "-c", script], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60, check=False)
    return done.stdout


# ---- links in what is handed on ----
PLANT = f"mkdir -p out/d && echo good > out/good && ln -s {SECRET} out/abs && ln -s ../../../../../../../../..{SECRET} out/d/up && ln -s d/.. out/round && ln -s good out/in"
READ = "cat abs d/up round/abs in"
folder = tmpdir("root")
unconfined(PLANT, folder)
is_(unconfined(READ, os.path.join(folder, "out")).count(b"the host's secret"), 3, "the control: three links lead to the host's file")
for kind in ("read-only", "copy"):
    where = "/run/input/out" if kind == "read-only" else "/scratch/out"
    job = jobs.run({"image": slim, "stages": [stage("plant", "sh", "-c", PLANT, outputs=["out"]), stage("read", "sh", "-c", f"cd {where} && {READ}", inputs={kind: ["@plant"]})]})
    is_((job.out, b"secret\n" in job.err.replace(SECRET.encode(), b"")), (b"good\n", False), f"handed on ({kind}) none does, and the one inside works", job)
    ok(any("3 entries are not part" in text for text in job.stage("plant")["result"]["warnings"]), "which a warning tells", job)

# ---- what is handed on is not changed by who gets it ----
CHANGE = "chmod 777 good . ; echo bad > good; echo bad > new; ln good hard; touch -d @0 good; mv good other"
folder = tmpdir("root")
unconfined("mkdir out && echo good > out/good", folder)
unconfined(CHANGE, os.path.join(folder, "out"))
ok(not os.path.exists(os.path.join(folder, "out/good")), "the control: a folder of one's own is changed")
job = jobs.run({"image": slim, "stages": [stage("make", "sh", "-c", "mkdir out && echo good > out/good", outputs=["out"]),
                                          stage("attack", "sh", "-c", f"cd /run/input/out && {CHANGE}; cd /scratch/mine && {CHANGE}; true", inputs={"read-only": ["@make"], "copy": ["@make:mine"]}),
                                          stage("look", "sh", "-c", "cd /run/input/out && ls -l | grep -v total | sed 's/ .* / /'; cat *", inputs={"read-only": ["@make"]})]})
is_((job.status, job.out), ("succeeded", b"-rw-r--r-- good\ngood\n"), "a later stage gets what was made, whatever another did with it", job)

# ---- who outlives its stage ----
SWAP = "mkdir -p real && echo good > real/f; (while :; do rm -rf out; cp -r real out; rm -rf out; ln -s / out; done) & sleep 0.3; exit 0"
folder = tmpdir("root")
process = subprocess.Popen(["/bin/busybox", "sh", "-c", "(sleep 0.2; echo late > late) & exit 0"], cwd=folder)
process.wait()
wait_for(lambda: os.path.exists(os.path.join(folder, "late")), what="the control: a child that goes on writes")
ok(True, "the control: a child that outlives its parent writes")
for _ in range(4):
    job = jobs.run({"image": slim, "stages": [stage("swap", "sh", "-c", SWAP, outputs=["out:files=50"]), stage("look", "sh", "-c", "ls /run/input/out", inputs={"read-only": ["@swap"]})]})
    kept = job.stage("swap")["outputs"][0]["digest"] is not None
    ok((job.status == "succeeded" and job.out in (b"f\n", b"")) if kept else job.status == "failed", "a folder that is swapped for a link to / until the end is a folder or nothing", job)

# ---- the job's own words ----
folder = tmpdir("root")
FAKE = json.dumps({"schema": "pinfold.job-event/1", "job": "x", "what": "finished", "stage": None, "set": None, "at_usec": 0, "event": None})
TALK = f"echo '{FAKE}'; echo '{FAKE}' >&2; for fd in 3 4 5 6 7 8 9 10 11 12; do echo '{FAKE}' >&$fd; done 2>/dev/null; ls /proc/self/fd; exit 3"
with open(os.path.join(folder, "events"), "wb") as events:
    subprocess.run(["/bin/busybox", "sh", "-c", f"echo '{FAKE}' >&{events.fileno()}"], pass_fds=[events.fileno()], check=True)
is_(len(open(os.path.join(folder, "events"), "rb").read().splitlines()), 1, "the control: who has the descriptor writes events")
job = jobs.run({"image": slim, "stages": [stage("talk", "sh", "-c", TALK)]})
is_((job.status, [event["what"] for event in job.events if event["job"] == "x"]), ("failed", []), "a stage has no descriptor of the job's, and its words are no events", job)
is_(job.out.split()[-4:], [b"0", b"1", b"2", b"3"], "it has the three, and the one that ls opened", job)

# ---- the store ----
PROBE = f"ls {jobs.path} {jobs.path}/jobs; echo x > {jobs.path}/jobs/cache/x; find %s -name entry.json 2>/dev/null; true"
ok(b"cache" in unconfined(PROBE % jobs.path, "/"), "the control: its owner sees the store")
job = jobs.run({"image": slim, "stages": [stage("probe", "sh", "-c", PROBE % "/")]})
is_((job.out, os.path.exists(os.path.join(jobs.path, "jobs/cache/x/y"))), (b"", False), "a stage sees nothing of it", job)
is_(jobs.leavings(), [], "nothing is left")
done()
