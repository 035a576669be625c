#!/usr/bin/python3
"""A stage that would do again what it did comes out of the cache, with all that it gave; anything that goes into it being different, it runs."""
import copy
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from jobs import Jobs, stage
from pf import *

jobs = Jobs()
jobs.image(busybox_image(), "slim")
jobs.image(image({"bin/busybox": ("copy", "/bin/busybox"), "bin/sh": ("link", "busybox"), "bin/cat": ("link", "busybox")}), "other")
MAKE = "head -c 16 /dev/urandom | od -An -tx1 > out; chmod 751 out; echo said; echo complained >&2; echo 1 > kept"
DOC = {"image": "slim", "stages": [stage("make", "sh", "-c", MAKE, kind="build", outputs=["out"], artifacts={"collect": ["kept"]}),
                                   stage("show", "cat", "/run/input/out", inputs={"read-only": ["@make"]})]}


def states(job):
    return [(one["state"], one["cache"]["state"]) for one in job.result["stages"]]


def run(document, *flags, **options):
    return jobs.run(document, "--artifacts-dir", os.path.join(tmpdir(), "out"), *flags, **options)


first = run(DOC)
is_((first.status, states(first)), ("succeeded", [("ran", "miss")] * 2), "the first time it runs", first)
second = run(DOC)
is_((second.status, states(second)), ("succeeded", [("cached", "hit")] * 2), "the second time nothing does", second)
is_((second.out, len(second.out.split())), (first.out, 16), "and what was random is the same", second)
ok(b"said\ncomplained\n" in second.err or b"complained\nsaid\n" in second.err, "what it said is said again", second)
is_([one["cache"]["key"] for one in second.result["stages"]], [one["cache"]["key"] for one in first.result["stages"]], "by the same keys")
is_(second.stage("make")["outputs"], first.stage("make")["outputs"], "the outputs are the same")
is_(second.stage("make")["result"], first.stage("make")["result"], "and the result is that of the run that filled it")
is_(second.stage("make")["files"]["folder"], "make", "artifacts are handed back again")
is_([event["what"] for event in second.events], ["begun", "cached", "cached", "finished"], "which events tell")
is_((len(jobs.entries()), jobs.leavings()), (2, []), "two entries, and no work left")


def changed(change):
    document = copy.deepcopy(DOC)
    change(document["stages"][0])
    return document


CHANGES = [
    ("the command", lambda s: s["command"].__setitem__(2, MAKE + " # other")),
    ("the image", lambda s: s.update(image="other", command=["sh", "-c", "/bin/busybox echo 1 > out; /bin/busybox echo 1 > kept"])),
    ("a limit", lambda s: s.update(memory="300M")),
    ("the environment", lambda s: s.update(env=["A=1"])),
    ("the policy", lambda s: s.update(uid=1001)),
    ("a priority", lambda s: s.update(priority="low")),
    ("an output", lambda s: s.update(outputs=["out:max=1M"])),
    ("an artifact", lambda s: s.update(artifacts={"collect": ["kept:max=1K"]})),
    ("the kind, and so the limits", lambda s: s.update(kind="run")),
    ("a working folder", lambda s: s.update(workdir="/scratch/.")),
]
for what, change in CHANGES:
    job = run(changed(change))
    is_(states(job)[0], ("ran", "miss"), f"{what} differs: it runs", job)
    if what not in ("the image",):
        is_(states(job)[1], ("ran", "miss"), f"{what}: and so does what takes what it gave, which is another", job)
job = run({**DOC, "name": "another name", "stages": [{**DOC["stages"][0], "name": "renamed"}, {**DOC["stages"][1], "inputs": {"read-only": ["@renamed"]}}]})
is_(states(job), [("cached", "hit")] * 2, "names are no part of it", job)

# ---- what is handed on is part of it ----
def hands_on(name):
    return {"image": "slim", "stages": [stage("make", "sh", "-c", "echo 1 > a; echo 2 > b", kind="build", outputs=[name]), stage("show", "cat", f"/run/input/{name}", inputs={"read-only": ["@make"]})]}


for name, want, state in (("a", b"1\n", ("ran", "miss")), ("b", b"2\n", ("ran", "miss")), ("a", b"1\n", ("cached", "hit")), ("b", b"2\n", ("cached", "hit"))):
    job = run(hands_on(name))
    is_((states(job)[0], job.out), (state, want), f"the same command that hands on {name}: {state[0]}", job)

# ---- inputs by digest ----
SAME = {"image": "slim", "stages": [stage("make", "sh", "-c", "echo @{n} > /dev/null; echo same > out", kind="build", outputs=["out"]),
                                    stage("show", "cat", "/run/input/out", inputs={"read-only": ["@make"]})],
        "matrix": {"parameters": {"n": [1]}}}
job = run(SAME)
is_(states(job), [("ran", "miss")] * 2, "a first one", job)
job = run({**SAME, "matrix": {"parameters": {"n": [2]}}})
is_(states(job), [("ran", "miss"), ("cached", "hit")], "what takes the same bytes, whoever made them, does not run again", job)
source = tmpdir()
FROM = {"image": "slim", "source": {"folder": source}, "analyse": "none", "stages": [stage("show", "sh", "-c", "cat /run/input/source/f", inputs={"read-only": ["@source"]})]}
with open(os.path.join(source, "f"), "w", encoding="ascii") as file:
    file.write("one\n")
is_([states(run(FROM))[1] for _ in range(2)], [("ran", "miss"), ("cached", "hit")], "a source of the same bytes")
os.chmod(os.path.join(source, "f"), 0o755)
is_(states(run(FROM))[1], ("ran", "miss"), "of another mode")
with open(os.path.join(source, "f"), "w", encoding="ascii") as file:
    file.write("two\n")
job = run(FROM)
is_((states(job)[1], job.out), (("ran", "miss"), b"two\n"), "of other bytes", job)

# ---- what is never cached ----
NEVER = [
    ("--no-cache", DOC["stages"][0], ["--no-cache"], "--no-cache"),
    ("a stage that says so", {**DOC["stages"][0], "cache": False}, [], "the stage says so"),
    ("an image by path", {**DOC["stages"][0], "image": busybox_image()}, [], "no stored one"),
    ("the caller's stdin", {**DOC["stages"][0], "stdin": "-"}, [], "stdin"),
    ("stdin from a file", {**DOC["stages"][0], "stdin": os.path.join(source, "f")}, [], "stdin"),
    ("what may reach something", {**DOC["stages"][0], "egress": {"allow": ["host.invalid:80"]}}, [], "network"),
    ("files of the host", {**DOC["stages"][0], "inputs": {"copy": [source + ":x"]}}, [], "files of this host"),
]
for what, one, flags, why in NEVER:
    for _ in range(2):
        job = run({"image": "slim", "stages": [one]}, *flags)
    is_((states(job), why in job.stage("make")["cache"]["reason"]), ([("ran", "off")], True), f"{what}: never", job)
FAILS = {"image": "slim", "stages": [stage("a", "sh", "-c", "echo x; exit 3")]}
is_([states(run(FAILS)) for _ in range(2)], [[("ran", "miss")]] * 2, "what failed is not kept")

# ---- an entry that cannot be used ----
key = first.stage("make")["cache"]["key"].split(":")[1]
entry = os.path.join(jobs.path, "jobs/cache", key)


def rewrite(change):
    """The entry's own document, changed."""
    with open(os.path.join(entry, "entry.json"), "r+", encoding="utf-8") as file:
        text = change(file.read())
        file.seek(0)
        file.truncate()
        file.write(text)


def with_members(**members):
    return lambda text: json.dumps({**json.loads(text), **members})


UNUSABLE = [("cut", lambda text: text[:100]), ("no JSON", lambda text: "x"), ("of another boot", with_members(boot="other")), ("of no boot", with_members(boot=None)),
            ("without a listing", with_members(listing=None)), ("not ok", lambda text: json.dumps({**json.loads(text), "result": {**json.loads(text)["result"], "ok": False}})),
            ("of another kind", lambda text: json.dumps({**json.loads(text), "result": {**json.loads(text)["result"], "schema": "other"}}))]
rewrite(with_members())
is_(states(run(DOC))[0], ("cached", "hit"), "the control: an entry that was written again as it was")
for what, change in UNUSABLE:
    rewrite(change)
    job = run(DOC)
    is_((states(job)[0], job.status), (("ran", "miss"), "succeeded"), f"an entry that is {what} is made anew", job)
    is_(states(run(DOC))[0], ("cached", "hit"), "and is one again")
os.rename(os.path.join(entry, "outputs"), os.path.join(entry, "gone"))
job = run(DOC)
is_((states(job)[0], job.status), (("ran", "miss"), "succeeded"), "without its outputs too", job)


# ---- an entry that was altered on the disk ----
def alter_bytes(path):
    """Other bytes, as many, and the times that it had."""
    before = os.stat(path)
    with open(path, "r+b") as file:
        file.write(b"#")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def alter_tree(folder):
    os.unlink(os.path.join(folder, "d/old"))


TREE = {"image": "slim", "stages": [stage("make", "sh", "-c", "mkdir -p out/d && echo 1 > out/d/old && echo 2 > out/f && ln -s f out/l; echo said", kind="build", outputs=["out"]),
                                    stage("show", "sh", "-c", "cd /run/input/out && cat d/old f l", inputs={"read-only": ["@make"]})]}
key = run(TREE).stage("make")["cache"]["key"].split(":")[1]
entry = os.path.join(jobs.path, "jobs/cache", key)
ALTERED = [
    ("bytes of a file", lambda: alter_bytes(os.path.join(entry, "outputs/+out/f"))),
    ("a file less", lambda: alter_tree(os.path.join(entry, "outputs/+out"))),
    ("a file more", lambda: open(os.path.join(entry, "outputs/+out/d/new"), "w").close()),
    ("a mode", lambda: os.chmod(os.path.join(entry, "outputs/+out/f"), 0o755)),
    ("a link", lambda: (os.unlink(os.path.join(entry, "outputs/+out/l")), os.symlink("d", os.path.join(entry, "outputs/+out/l")))),
    ("what it said", lambda: alter_bytes(os.path.join(entry, "stdout"))),
]
is_(states(run(TREE)), [("cached", "hit")] * 2, "the control: an entry that nobody touched")
for what, alter in ALTERED:
    alter()
    job = run(TREE)
    is_((states(job)[0], job.status, job.out), (("ran", "miss"), "succeeded", b"1\n2\n2\n"), f"altered since, {what}: it is made anew", job)
    is_(states(run(TREE))[0], ("cached", "hit"), "and is one again")

# ---- gc ----
count = len(jobs.entries())
run_ = jobs.verb("gc")
is_((run_.code, len(jobs.entries())), (0, count), "gc without more takes nothing that may be used", run_)
run_ = jobs.verb("gc", "--older", "1h")
is_(len(jobs.entries()), count, "nor what was used within the hour", run_)
os.utime(entry, (1, 1))
run_ = jobs.verb("gc", "--older", "1h")
is_((len(jobs.entries()), os.path.exists(entry)), (count - 1, False), "what was not goes", run_)
run_ = jobs.verb("gc", "--max-size", "0")
is_((run_.code, jobs.entries()), (0, []), "all that is more than it may be", run_)
run(DOC)
run_ = jobs.verb("gc", "--all")
is_((run_.code, jobs.entries()), (0, []), "or all", run_)
is_(states(run(DOC)), [("ran", "miss")] * 2, "then it runs again")
jobs.plant("jobs/work/killed")
jobs.plant("jobs/work/killed/0")
run_ = jobs.verb("gc")
is_((jobs.leavings(), b"1 folders of killed jobs" in run_.out), ([], True), "and what a killed job left goes", run_)
key = run(DOC).stage("make")["cache"]["key"].split(":")[1]
for kind in ("file", "link"):
    jobs.verb("gc", "--all")
    at = os.path.join(jobs.path, "jobs/cache", key)
    if kind == "file":
        with open(at, "w", encoding="ascii"):
            pass
    else:
        os.symlink("/", at)
    is_([states(run(DOC))[0] for _ in range(2)], [("ran", "miss")] * 2, f"a {kind} in an entry's place: nothing is kept under that key")
    run_ = jobs.verb("gc")
    is_((run_.code, os.path.lexists(at), b"1 files removed" in run_.out), (0, False, True), "gc takes it", run_)
    is_([states(run(DOC))[0] for _ in range(2)], [("ran", "miss"), ("cached", "hit")], "and all is as before")
with jobs.start({"image": "slim", "stages": [stage("show", "sh", "-c", "echo up; exec sleep 100")]}) as running:
    running.line()
    jobs.verb("gc", "--all")
    is_(len(jobs.leavings()), 1, "a job that runs keeps its folder")
done()
