#!/usr/bin/python3
"""A job that is told to stop while it fetches, analyses, builds, runs, stands in a line or waits for whoever reads it ends as cancelled, with one result, and leaves nothing."""
import glob
import json
import os
import signal
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet
from jobs import Jobs, processes, stage
from pf import *

jobs = Jobs()
slim = busybox_image()
MARK = f"32{os.getpid() % 100000:05}"  # a sleep that nobody else sleeps
SLEEP = f"exec sleep {MARK}"
NAME = f"phase-{os.getpid()}"  # of slots


def descendants(pid):
    found = []
    for task in glob.glob(f"/proc/{pid}/task/*/children"):
        try:
            with open(task, encoding="ascii") as file:
                children = [int(one) for one in file.read().split()]
        except OSError:
            continue
        found += children + [below for child in children for below in descendants(child)]
    return found


def said(places, what, name=None, inner=None):
    """An event of it is there."""
    try:
        with open(places[1], "rb") as file:
            events = [json.loads(line) for line in file.read().split(b"\n")[:-1]]
    except OSError:
        return False
    return any(one["what"] == what and (name is None or one["stage"] == name) and (inner is None or one["event"]["event"] == inner) for one in events)


def cancelled(what, document, until, states, *flags, number=signal.SIGTERM, within=60, **options):
    """Start it, wait until it is there, tell it to stop: its one result, and nothing of it that is left."""
    with jobs.start(document, *flags, **options) as running:
        places = jobs.places
        wait_for(lambda: until(running, places), within, what=what)
        family = descendants(running.pid)
        running.signal(number)
        job = jobs.finished(running, places)
    is_((job.code, job.status, [(one["name"], one["state"]) for one in job.result["stages"]]), (4, "cancelled", states), f"{what}: cancelled", job)
    ok(job.message != "" and [one["what"] for one in job.events].count("finished") == 1, f"{what}: it says why, and events end", job)
    wait_for(lambda: not [pid for pid in family if os.path.exists(f"/proc/{pid}")], what=f"{what}: the end of all that ran")
    is_((jobs.leavings(), processes(MARK)), ([], []), f"{what}: nothing of it is left")
    return job


# ---- stages ----
source = tmpdir()
with open(os.path.join(source, "f.py"), "w", encoding="ascii") as to:
    to.write("print(1)\n")
BUILD_RUN = {"image": slim, "source": {"folder": source}, "analyse": "none",
             "stages": [stage("build", "sh", "-c", SLEEP, kind="build", inputs={"read-only": ["@source"]}), stage("run", "true")]}
job_ = cancelled("while it builds", BUILD_RUN, lambda running, places: processes(MARK), [("fetch", "ran"), ("build", "ran"), ("run", "skipped")])
is_(job_.stage("build")["result"]["status"], "cancelled", "the build's own result says so", job_)
AFTER = {"image": slim, "stages": [stage("build", "sh", "-c", "echo 1 > o", kind="build", outputs=["o"]), stage("run", "sh", "-c", SLEEP, inputs={"read-only": ["@build"]}), stage("last", "true")]}
cancelled("while it runs", AFTER, lambda running, places: processes(MARK), [("build", "ran"), ("run", "ran"), ("last", "skipped")])
STUBBORN = {"image": slim, "stages": [stage("run", "sh", "-c", f"trap '' TERM; sleep {MARK}; sleep {MARK}", grace="200ms")]}
cancelled("a program that does not listen", STUBBORN, lambda running, places: processes(MARK), [("run", "ran")])

# ---- analyse ----
TOOL = {"image": slim, "source": {"folder": source}, "analyse": {"tool": {"command": ["sh", "-c", SLEEP]}}, "stages": [stage("run", "true")]}
cancelled("while another analyser looks", TOOL, lambda running, places: processes(MARK), [("fetch", "ran"), ("analyse", "ran"), ("run", "skipped")])
if os.path.exists(os.path.join(BUILD, "libexec/pinfold/pinfold-scan")):
    large = tmpdir()
    with open(os.path.join(large, "0.py"), "w", encoding="ascii") as to:
        to.writelines(f"def f{n}(a, b):\n    return [a, b, {n}, (a + b) * {n}]\n\n" for n in range(20000))
    for n in range(1, 24):
        os.link(os.path.join(large, "0.py"), os.path.join(large, f"{n}.py"))
    SCAN = {"image": slim, "source": {"folder": large}, "stages": [stage("run", "true")]}
    job_ = cancelled("while it is scanned", SCAN, lambda running, places: [pid for pid in descendants(running.pid) if pid in processes("pinfold-scan")], [("fetch", "ran"), ("run", "skipped")])
    is_((job_.result["analysis"], job_.message), (None, "told to stop, or the caller is gone"), "there is no list of findings then, and the scanner is not to blame", job_)
else:
    skip("no pinfold-scan was built: run scripts/grammars", "while it is scanned")

# ---- in a line ----
with start("run", "--slots", f"1:{NAME}", "--stdin", "-", slim, "sh", "-c", "echo up; read x", env=jobs.env, stdin=subprocess.PIPE) as holder:
    is_(holder.line(), "up", "somebody has the only slot")
    LINE = {"image": slim, "stages": [stage("a", "sh", "-c", SLEEP, slots=f"1:{NAME}"), stage("b", "true")]}
    cancelled("while it stands in a line", LINE, lambda running, places: said(places, "run", "a", "queued"), [("a", "ran"), ("b", "skipped")])
    SWEEP = {"image": slim, "stages": [stage("a", "sh", "-c", "echo @{n}; " + SLEEP)], "matrix": {"parameters": {"n": [1, 2, 3]}, "slots": f"1:{NAME}"}}
    cancelled("a sweep that stands in a line", SWEEP, lambda running, places: said(places, "run", "a", "queued"), [("a", "ran"), ("a", "skipped"), ("a", "skipped")])
    holder.process.stdin.write(b"\n")
    holder.process.stdin.flush()
for folder in ("/run/pinfold", os.path.join(jobs.env.get("XDG_RUNTIME_DIR", "/nonexistent"), "pinfold")):
    for left in glob.glob(os.path.join(folder, f"slots-{NAME}*")):
        os.unlink(left)

# ---- between stages: what the first one said is not taken by anybody ----
TALK = {"image": slim, "stages": [stage("talk", "sh", "-c", "head -c 200000 /dev/zero; head -c 200000 /dev/zero >&2", output="16M"), stage("run", "sh", "-c", SLEEP)]}
reader, writer = os.pipe()
cancelled("between two stages", TALK, lambda running, places: said(places, "run", "talk", "ended"), [("talk", "ran"), ("run", "skipped")], stderr=writer)
os.close(writer)
os.close(reader)

# ---- fetch ----
if os.geteuid() != 0:
    skip("needs root, to make network namespaces for the test's hosts", "while it fetches")
else:
    with Internet() as net:
        asked = threading.Event()
        over = threading.Event()

        def silent(connection, peer):
            """A server that takes what comes, and never answers."""
            connection.recv(1)
            asked.set()
            over.wait(120)
        net.tls("93.184.216.40", 443, ["git.example"], silent)
        net.dns.names["git.example"] = ["93.184.216.40"]
        os.chmod(net.authority.ca, 0o644)
        from software import tools
        for kind in ("git", "archive"):
            asked.clear()
            FETCH = {"image": tools("git", "curl", "tar"), "source": {kind: "https://git.example/a", "ca": net.authority.ca}, "analyse": "none", "stages": [stage("run", "true")]}
            cancelled(f"while it fetches ({kind})", FETCH, lambda running, places: asked.is_set(), [("fetch", "ran"), ("run", "skipped")], net=net)
        over.set()

# ---- by another signal ----
job_ = cancelled("told by INT", BUILD_RUN, lambda running, places: processes(MARK), [("fetch", "ran"), ("build", "ran"), ("run", "skipped")], number=signal.SIGINT)
done()
