#!/usr/bin/python3
"""Whatever happens, there is one job result: a stage that fails in any way, one whose supervision dies, a store that is none."""
import json
import os
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from jobs import Jobs, stage
from pf import *

jobs = Jobs()
slim = busybox_image()
FAILS = [
    ("a code", stage("a", "sh", "-c", "exit 7"), "exited", "exited with code 7"),
    ("a name that no rule allows", stage("a", "sh", "-c", "nslookup other.invalid; exit 7", egress={"allow": ["host.invalid:80"]}), "exited",
     "exited with code 7; not reached: 'other.invalid': no rule names it"),
    ("a signal", stage("a", "sh", "-c", "kill -9 $$"), "signaled", "signaled"),
    ("a time", stage("a", "sleep", "100", wall="200ms"), "wall-timeout", "wall-timeout"),
    ("a program that is not there", stage("a", "/bin/none"), "exec-failed", "exec-failed: /bin/none"),
    ("an output that is not there", stage("a", "true", outputs=["o"]), "exited", "exited: a required artifact was not kept: 'o': nothing of that name is there"),
    ("a code, and an output that is not there", stage("a", "sh", "-c", "exit 7", outputs=["o"]), "exited", "exited with code 7"),
    ("an output that is too large", stage("a", "sh", "-c", "head -c 2000 /dev/zero > o", outputs=["o:max=1K"]), "exited", "exited: a required artifact was not kept: 'o': it is larger than its max"),
    ("an image that is not there", stage("a", "true", image="/nonexistent/image"), "refused", "refused"),
    ("an input that is not there", stage("a", "true", inputs={"copy": ["/nonexistent/input"]}), "refused", "refused"),
    ("what the host cannot do", stage("a", "true", require=["all"], cgroup_parent="/nonexistent"), "refused", "refused"),
    ("too much output", stage("a", "sh", "-c", "cat /dev/zero", output="1K"), "output-limit", "output-limit"),
]
for what, one, status, message in FAILS:
    job = jobs.run({"image": slim, "stages": [one, stage("after", "true")]})
    is_((job.code, job.status, job.result["cause"]["stage"], job.stage("a")["result"]["status"], job.stage("after")["state"]),
        (1, "failed", "a", status, "skipped"), f"{what}: failed, and nothing after it begins", job)
    ok(job.stage("a")["message"].startswith(message) and job.message == "stage a: " + job.stage("a")["message"], f"{what}: and why", job)

# ---- the supervision of a stage dies ----
for number in (signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT):
    with jobs.start({"image": slim, "stages": [stage("a", "sh", "-c", "echo up; exec sleep 100")]}) as running:
        places = jobs.places
        is_(running.line(), "up", "it runs")
        child = [int(pid) for pid in open(f"/proc/{running.pid}/task/{running.pid}/children").read().split()]
        is_(len(child), 1, "one process is its supervision")
        os.kill(child[0], number)
        job = jobs.finished(running, places)
    is_((job.code, job.status, job.stage("a")["result"]), (1, "failed", None), f"ended by {number.name}: the job has a result, and the stage none", job)
    ok("ended without a result" in job.message, "it says so", job)
is_(jobs.leavings(), [], "nothing is left")

# ---- a store that is none ----
for what, store in (("no absolute path", "store"), ("a file", os.path.join(tmpdir(), "file"))):
    if what == "a file":
        open(store, "w").close()
    job = jobs.run({"image": slim, "stages": [stage("a", "true")]}, env={"PINFOLD_STORE": store})
    is_((job.code, job.status), (125, "refused"), f"a store that is {what}: refused", job)
open_store = tmpdir()
os.mkdir(os.path.join(open_store, "jobs"))
os.chmod(os.path.join(open_store, "jobs"), 0o777)
job = jobs.run({"image": slim, "stages": [stage("a", "true")]}, env={"PINFOLD_STORE": open_store})
ok(job.status == "refused" and "this user's alone" in job.message, "a job store that others may write to: refused", job)

# ---- other file systems ----
if os.geteuid() != 0:
    skip("needs root, to mount a file system for the test", "other file systems")
else:
    def mounted(size, folder):
        """What starts pinfold with a file system of that size at the folder, which belongs to who it did."""
        st = os.stat(folder)
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c",
                f'mount -t tmpfs -o size={size},mode=700,uid={st.st_uid},gid={st.st_gid} test {folder} && exec "$@"', "sh"]
    handed = tmpdir(mode=0o700)
    job = jobs.run({"image": slim, "stages": [stage("a", "sh", "-c", "echo said; mkdir o; echo 1 > o/f; ln -s f o/l", artifacts={"collect": ["o"]})]}, "--artifacts-dir", handed,
                   within=mounted("8m", handed))
    is_((job.code, job.status), (0, "succeeded"), "artifacts are handed back to another file system than the store's", job)
    small = tmpdir(mode=0o700)
    job = jobs.run({"image": slim, "stages": [stage("a", "sh", "-c", "head -c 4000000 /dev/zero; echo after >&2", kind="build"), stage("after", "true")]},
                   env={"PINFOLD_STORE": small}, within=mounted("1m", small))
    is_((job.code, job.status, job.result["cause"]["stage"], job.stage("after")["state"]), (1, "failed", "a", "skipped"), "what a stage says and the disk cannot hold: failed", job)
    ok("could not be kept: No space left on device" in job.message, "it says so", job)

# ---- what the caller gave is full ----
TALK = {"image": slim, "stages": [stage("a", "sh", "-c", "echo first >&2; head -c 4000000 /dev/zero", output="16M"), stage("b", "sh", "-c", "head -c 4000000 /dev/zero", output="16M")]}
for name in ("stdout", "stderr"):
    with open("/dev/full", "wb") as full, jobs.start(TALK, **{name: full}) as running:
        places = jobs.places
        other = running.process.stdout or running.process.stderr
        while other.read1(1 << 16):
            pass
        job = jobs.finished(running, places)
    is_((job.code, job.status, job.result["cause"]["stage"], job.stage("b")["ok"]), (125, "lost", None, False), f"{name} that cannot be written: the job is lost, as a run is", job)
    like(job.message, f"^{name} cannot be written to what the caller gave: No space left on device", "and why is said")
jobs.image(slim, "stored")
WORD = {"image": "stored", "stages": [stage("a", "echo", "a word")]}
is_(jobs.run(WORD).out, b"a word\n", "the control: a word")
with open("/dev/full", "wb") as full, jobs.start(WORD, stdout=full) as running:
    job = jobs.finished(running, jobs.places)
is_((job.code, job.status, job.stage("a")["state"], job.stage("a")["ok"]), (125, "lost", "cached", True), "what comes out of the cache, and is all there when it begins, is missed, too", job)
job = jobs.verb("run", "--result", "/dev/full", jobs.document({"image": slim, "stages": [stage("a", "true")]}))
ok(job.code == 125 and b"/dev/full exists and is not a regular file" in job.err, "a result that would go into a device is refused before anything runs", job)

# ---- what is not there, or not to be read ----
apart = tmpdir()
for name in ("bin", "libexec"):
    shutil.copytree(os.path.join(os.path.dirname(program_path()), "..", name), os.path.join(apart, name))
os.unlink(os.path.join(apart, "bin/pinfold"))
alone = os.path.join(apart, "libexec/pinfold/pinfold-job")
where = os.path.join(tmpdir(), "r.json")
done_ = start("run", "--result", where, jobs.document({"image": slim, "stages": [stage("a", "true"), stage("b", "true")]}), program=alone, env=jobs.env).wait(60)
found = json.load(open(where, encoding="utf-8"))
is_((done_.code, found["status"], [one["state"] for one in found["stages"]]), (1, "failed", ["ran", "skipped"]), "without the program that runs stages there is a result", done_)
like(found["cause"]["message"], "lost: .*/bin/pinfold cannot be executed", "which names it")
closed = tmpdir()
os.mkdir(os.path.join(closed, "in"), 0)
for what, source in (("not there", "/nonexistent/source"), ("not to be read", os.path.join(closed, "in")), ("no folder", "/dev/zero")):
    if what == "not to be read" and WHO == "root":
        continue
    job = jobs.run({"image": slim, "source": {"folder": source}, "analyse": "none", "stages": [stage("a", "true")]})
    is_((job.code, job.status, job.result["cause"]["stage"], job.stage("a")["state"]), (1, "failed", "fetch", "skipped"), f"a source that is {what}: failed", job)
    ok(b"degraded here" not in job.err or b"root-read-only" not in job.err, "and nobody says that the sandbox which there was not was degraded", job)
    is_(jobs.leavings(), [], "nothing is left")

# ---- places that are none ----
run = jobs.verb("run", "--result", "/proc/none/r.json", jobs.document({"image": slim, "stages": [stage("a", "true")]}))
ok(run.code == 125 and b"/proc/none" in run.err, "a result that cannot be written refuses before anything runs", run)
job = jobs.run({"image": slim, "stages": [stage("a", "true")]}, "--id", "a b")
is_((job.code, job.status), (125, "refused"), "an id that is none", job)
job = jobs.run({"image": slim, "stages": [stage("a", "true")]}, "--id", "my-job")
is_((job.result["id"], job.stage("a")["result"]["id"]), ("my-job", "my-job.0"), "an id names the job and its runs", job)
with jobs.start({"image": slim, "stages": [stage("a", "sh", "-c", "echo up; read x", stdin="-")]}, "--id", "twice", stdin=subprocess.PIPE) as running:
    places = jobs.places
    running.line()
    job = jobs.run({"image": slim, "stages": [stage("a", "true")]}, "--id", "twice")
    ok(job.status == "refused" and "runs already" in job.message, "the id of a job that runs is refused", job)
    running.process.stdin.write(b"go\n")
    running.process.stdin.flush()
    job = jobs.finished(running, places)
is_((job.status, jobs.leavings()), ("succeeded", []), "which that does not notice", job)
job = jobs.run({"image": slim, "stages": [stage("a", "true")]}, "--id", "twice")
is_(job.status, "succeeded", "then it is free again", job)
done()
