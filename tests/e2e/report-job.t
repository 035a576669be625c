#!/usr/bin/python3
"""pinfold report renders the results of jobs too: verdict and cause, source, analysis, cost, combinations, each stage with its run, artifacts over all stages;
hostile text stays text, what is missing is not told, what is broken is refused with its place."""
import copy
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from jobs import Jobs, job_validator, stage
from pf import *
from reports import Reports

reports = Reports()
work, write, page = reports.folder, reports.write, reports.page
jobs = Jobs()
slim = busybox_image()


def report(*words, **more):
    return pinfold("report", *words, **more)


def told(words, *parts):
    for part in parts:
        ok(part in words, f"the page tells {part}", words[:6000])


def headings(text):
    """The ranks of the headings: one first, and none is left out on the way down."""
    ranks = [int(rank) for rank in re.findall(r"<h([1-6])", text)]
    is_((ranks[0], ranks.count(1)), (1, 1), "one heading of the first rank, before the others")
    is_([pair for pair in zip(ranks, ranks[1:]) if pair[1] > pair[0] + 1], [], "and no rank is left out")


def valid(result):
    is_([error.message for error in job_validator("job-result").iter_errors(result)], [], "what is shown is by the schema")
    return result


def events_of(job):
    return write("events.jsonl", b"".join(json.dumps(event).encode() + b"\n" for event in job.events))


def run(document, *flags):
    kept = os.path.join(tmpdir(), "kept")
    job = jobs.run(document, "--artifacts-dir", kept, *flags)
    return job, kept


# ---- two stages that succeed, with what they keep ----
source = tmpdir()
with open(os.path.join(source, "main.c"), "w", encoding="ascii") as file:
    file.write("int main(void)\n{\n\treturn 0;\n}\n")
two, kept = run({"name": "two stages", "source": {"folder": source}, "analyse": "none", "image": slim, "stages": [
    stage("make", "sh", "-c", "echo 'main.c:2:5: warning: unused variable <b> [-Wunused]' >&2; echo made > out", kind="build", outputs=["out"], diagnostics="gcc", inputs={"read-only": ["@source"]}),
    stage("use", "sh", "-c", "cat /run/input/out > notes.txt; cat /run/input/out", inputs={"read-only": ["@make"]}, artifacts={"collect": ["notes.txt"]})]})
is_(two.status, "succeeded", "two stages", two)
text, words = page(two.result, "--events", events_of(two), "--artifacts-dir", kept)
told(words, "Report of a job", "two stages", "Succeeded", "Every stage did what it should", two.result["id"], "Stages run 3", "Artifacts kept 1", "a folder of this host", source,
     two.result["source"]["digest"], "There was none: the job asks for none", "fetches the source", "builds", "runs, with less", "the image is no stored one", "main.c :2:5", "-Wunused",
     "unused variable <b>", two.stage("make")["outputs"][0]["digest"], "What later stages may take", "notes.txt", "made", "of use", two.result["host"]["kernel"])
headings(text)
is_([len(re.findall(f"<h3><bdi>{name}</bdi></h3>", text)) for name in ("fetch", "make", "use")], [1, 1, 1], "each stage has its heading")
ok(text.index("<bdi>fetch</bdi></h3>") < text.index("<bdi>make</bdi></h3>") < text.index("<bdi>use</bdi></h3>"), "in their order")
is_(text.count('<details class="one" open="">'), 0, "nothing of what went well is open")
is_(text.count("<details"), text.count("</details>"), "what begins ends")
is_(words.count("What happened when"), 3, "each stage has its own events", words)
ok("No events were given" not in words, "and nothing says that there are none")
is_(text.count("<pre"), 1, "one preview, where all artifacts are")
for row in two.stage("use")["result"]["guarantees"]:
    ok(row["name"] in words, f"the stage's run is told whole: {row['name']}")
is_(re.findall(r"<(script|iframe|object|embed|link|base|form|foreignObject|a|button|input)\b", text), [], "no element that runs, loads or leads away")
is_(re.findall(r"\s(on\w+|style|srcdoc|href|formaction)=", text), [], "no attribute that does")
text, words = page(two.result)
ok("No events were given" in words and "What happened when" not in words and "<pre" not in text, "without events and folder: no plots, no previews, and it is said", words[:3000])
title = re.search("<title>(.*)</title>", text).group(1)
like(title, "^Succeeded: job two stages", "the title")

# ---- over time ----
long_run = copy.deepcopy(two.result)
long_run["stages"][2]["result"]["usage"]["wall_usec"] = 5000000


def usage(at, job=two.result["id"], run=two.stage("use")["result"]["id"]):
    return {"schema": "pinfold.job-event/1", "job": job, "what": "run", "stage": "use", "set": None, "at_usec": at,
            "event": {"schema": "pinfold.event/1", "event": "usage", "id": run, "at_usec": at, "cpu_usec": at // 2, "memory_bytes": 64 << 20, "pids": 3, "stdout_bytes": 5, "stderr_bytes": 0}}


def lines(*events):
    return write("e.jsonl", b"".join(json.dumps(event).encode() + b"\n" for event in events))


text, words = page(long_run, "--events", lines(*(usage(n * 1000000) for n in range(1, 5))))
is_(text.count('role="img"'), 4, "four plots, of the stage whose figures they are")
ok("Memory over time: at most 64 MiB" in text, "for a reader without eyes too")
_, words = page(long_run, "--events", lines(usage(1000000), usage(2000000, run="nobody"), {"schema": "x"}))
told(words, "2 lines of the events are of no stage of this job")
bad = report(write("job.json", long_run), "--events", lines(usage(1, job="another")))
is_((bad.code, bad.out), (125, b""), "events of another job: refused", bad)
like(bad.err.decode(), "another job", "by name")

# ---- a compile that fails ----
failed, kept = run({"stages": [
    stage("compile", "sh", "-c", "echo 'a/main.c:3:7: error: expected ; before <x>' >&2; exit 1", kind="build", diagnostics="gcc", outputs=["out"]), stage("run", "true")], "image": slim})
is_(failed.status, "failed", "a compile that fails", failed)
text, words = page(failed.result)
told(words, "Failed", "A stage did not do what it should", failed.message, "a/main.c :3:7", "expected ; before <x>", "1 failed, 1 not begun", "It was not begun", "exit code 1")
headings(text)
is_(re.findall(r'<details class="one" open="">\n<summary><h3><bdi>(\w+)', text), ["compile"], "the stage that failed is open, and no other")
ok(text.index("What the compiler said") < text.index(">Source<"), "why it failed stands before what it is of")

# ---- a sweep ----
sweep, _ = run({"image": slim, "stages": [stage("once", "true"), stage("a", "sh", "-c", "exit $0", "@{n}"), stage("b", "echo", "@{n}", "@{m}")],
                "matrix": {"parameters": {"n": [0, 1], "m": ["x y", True]}, "keep-going": True}})
is_(sweep.status, "failed", "a sweep, one half of which fails", sweep)
text, words = page(sweep.result)
told(words, "Combinations", *(f"n = {n} m = {m} a {state}" for n, state in ((0, "ran"), (1, "failed")) for m in ("x y", "true")))
is_(len(re.findall('<details class="one"', text)), 9, "and each run of each stage is told")
is_(len(re.findall('<details class="one" open', text)), 1, "the first that failed is open")
headings(text)

# ---- cost ----
WORK = {"image": slim, "stages": [stage("work", "sh", "-c", "head -c $(( $0 * 10000 )) /dev/zero > r", "@{n}", artifacts={"collect": ["r"]})],
        "cost": {"configurations": [{"scale": 1, "set": {"n": 1}}, {"name": "small", "scale": 2.5, "set": {"n": 2}}], "full": {"scale": 100, "set": {"n": 100}}}}
costs = {}
for name, budget, sentence in (("none", None, "Nothing was approved"), ("little", {"scratch": "100K"}, "above what was approved"), ("enough", {"wall": "100h", "scratch": "1G"}, "the full configuration ran")):
    document = {**WORK, "cost": {**WORK["cost"], **({"budget": budget} if budget else {})}}
    job, _ = run(document)
    costs[name] = job.result
    text, words = page(job.result)
    told(words, sentence, "small", "2.5", "configuration small", "Estimate", "Interval")
    headings(text)
    is_("Needs approval" in words, name != "enough", "the banner says so")
    is_("more than approved" in words, name == "little", "and the row what it is")
told(words, "The job's own document approved it", "100 h 0 min")
shared = copy.deepcopy(costs["enough"])
shared["cost"].update(reserved={"cpu_usec": 1500000, "wall_usec": None, "memory_mib_usec": 2500000, "runs": 1}, settled={"cpu_usec": 1000, "wall_usec": 5, "memory_mib_usec": 1, "runs": 1}, by="flag")
_, words = page(valid(shared))
told(words, "What was set aside in the shared budget", "1.50 s", "2.5", "It was approved on the command line")
refused = copy.deepcopy(costs["little"])
refused["cost"]["over"] = ["budget-file"]
_, words = page(valid(refused))
told(words, "The shared budget has no room")

# ---- the analysis ----
finding = {"id": "c.system", "severity": "error", "path": "src/main.c", "line": 7, "column": 3, "message": "runs a <command>", "detail": "system(&x)", "tool": "pinfold", "waived": None}
full = copy.deepcopy(two.result)
full.update(status="stopped", ok=False, cause={"stage": "analyse", "message": "the gate says no"}, warnings=["a warning of the job"])
full["source"] = {"kind": "git", "from": "git.example/x.git", "ref": "v1.2", "commit": "c0ffee" * 6 + "abcd", "archive_digest": None, "trust": None, "digest": "sha256:" + "1" * 64, "bytes": 12345}
full["analysis"] = {"gate": "warning", "counts": {"error": 2, "warning": 31, "note": 0, "waived": 1}, "complete": False,
                    "findings": [finding, {**finding, "severity": "note", "path": None, "line": None, "column": None, "waived": "looked at by A. Reader", "tool": "other analyser"}],
                    "waivers": [{"id": "c.system", "path": "lib/*", "reason": "the build needs it", "used": 1}, {"id": "c.asm", "path": "*", "reason": "old", "used": 0}]}
full["stages"][1].update(state="cached", cache={"state": "hit", "key": "sha256:" + "2" * 64, "reason": None})
text, words = page(valid(full))
told(words, "Stopped by the analysis", "the gate says no", "a commit of a git repository", "v1.2", full["source"]["commit"], "stops at a warning or an error", "Errors 2", "Warnings 31", "Waived 1",
     "src/main.c :7:3", "c.system", "runs a <command>", "system(&x)", "looked at by A. Reader", "other analyser", "There are more findings", "the build needs it", "not used", "a warning of the job",
     "Taken from the cache", "1 from the cache", "sha256:" + "2" * 64)
ok(text.index(">Analysis<") < text.index(">Source<"), "what stopped it stands first")
headings(text)
archive = {**full, "source": {**full["source"], "kind": "archive", "archive_digest": "sha256:" + "3" * 64, "trust": "first-use", "commit": None}}
_, words = page(valid(archive))
told(words, "an archive", "sha256:" + "3" * 64, "seen now for the first time")

# ---- every status, and what is missing, older or newer ----
STATUSES = {"succeeded": "Succeeded", "failed": "Failed", "stopped": "Stopped", "needs-approval": "Needs approval", "cancelled": "Cancelled", "refused": "Refused", "lost": "Lost"}
is_(sorted(STATUSES), sorted(load_schema("job-result").schema["properties"]["status"]["enum"]), "every status of the schema is looked at")
for status, said in STATUSES.items():
    _, words = page({**full, "status": status, "ok": status == "succeeded"})
    ok(said in words.split("status")[0], f"{status}: {said}", words[:300])
_, words = page({**full, "status": "abducted", "new": [{"deep": 1}], "stages": [{"name": "x", "state": "melted", "ok": True, "kind": "dance", "new": 1}]})
told(words, "Did not succeed", "abducted", "no words for", "melted", "dance", "no result of its run")
text, words = page({"schema": "pinfold.job-result/1", "status": "lost"})
told(words, "Lost", "not told", "None was begun")
headings(text)
everything = {**full, "cost": shared["cost"]}


def without(value, at=()):
    """Every path to a member in it."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*at, key)
        if key != "result":
            yield from without(item, (*at, key))


brief = {**everything, "stages": everything["stages"][:2]}
for way in without(brief):
    changed = copy.deepcopy(brief)
    at = changed
    for key in way[:-1]:
        at = at[key]
    if isinstance(at, dict) and way not in (("schema",), ("status",)):
        at[way[-1]] = None
        made = report(write("job.json", changed))
        if made.code != 0:
            is_(made.err, b"", f"null in place of {'/'.join(map(str, way))} is not told", made)
        del at[way[-1]]
        made = report(write("job.json", changed))
        if made.code != 0:
            is_(made.err, b"", f"a document without {'/'.join(map(str, way))}", made)

# ---- broken documents: refused, with the place ----
HEAD = b'{"schema": "pinfold.job-result/1", "status": "failed",\n '
for content, why in ((b'{"schema": "pinfold.job-result/2"}', r":1:12: .*no page for"), (b'{"schema": "pinfold.job-result/1"}', r":1:1: a status"),
                     (HEAD + b'"stages": {"a": 1}}', r":2:12: stages: an array"), (HEAD + b'"stages": [{"result": {}}]}', r":2:\d+: result: no result of a run"),
                     (HEAD + b'"stages": [{"result": {"schema": "pinfold.job-result/1", "status": "x"}}]}', r":2:\d+: schema: .*no page for"),
                     (HEAD + b'"stages": [{"set": {"a": 5}}]}', r":2:27: a: a string"), (HEAD + b'"cost": {"scale": -1}}', r":2:20: scale: a number from 0"),
                     (HEAD + b'"cost": {"estimate": {"wall_usec": {"low": "x"}}}}', r":2:\d+: low: a whole number"), (HEAD + b'"ok": 1}', r":2:8: ok: true or false"),
                     (HEAD + b'"stages": [' + b"{}," * 16384 + b"{}]}", r":2:12: stages: more of them than any job"),
                     (HEAD + b'"stages": [' + b'{"result": ' * 20 + b"{}" + b"}" * 20 + b"]}", "nested too deep")):
    run_ = report(write("broken.json", content), "-o", os.path.join(work, "page.html"))
    is_((run_.code, run_.out, os.path.exists(os.path.join(work, "page.html"))), (125, b"", False), f"refused, and nothing written: {content[:90]!r}", run_)
    like(run_.err.decode(), r"^pinfold: report: \S*broken\.json" + why if why.startswith(":") else why, "with place and reason")

# ---- many ----
many = {**full, "status": "failed", "stages": [{**full["stages"][2], "name": f"s{n}", "ok": n % 50 != 7, "message": "of many" if n % 50 == 7 else None, "set": {"n": str(n)}} for n in range(600)]}
text, words = page(many)
is_(len(re.findall('<details class="one"', text)), 64 + 12, "so many in full, and all that failed")
ok("too many to be told in full" in words and ">s599<" in text, "the others have a row")
ok("There may be more; the stages have them" in words, "combinations too")

# ---- hostile strings in every field ----
HOSTILE = "</td></style><script>document.title='owned'</script><img src=x onerror=alert(1)>\"'><svg/onload=alert(1)>javascript:alert(1)&lt;b&gt;\x1b[31m\x7f\x85\u202e\u2066\ufeff\u200b" \
          "\U000e0041<!--]]>`</details></summary><h1>"


def poison(value, name=""):
    if isinstance(value, dict):
        return {HOSTILE + key if name == "set" else key: poison(item, key) for key, item in value.items()}
    if isinstance(value, list):
        return [poison(item, name) for item in value]
    return HOSTILE + name if isinstance(value, str) and name != "schema" else value


hostile = poison({**everything, "stages": [*everything["stages"], sweep.result["stages"][1]]})
for status, state in ((HOSTILE, HOSTILE), ("failed", "ran"), ("needs-approval", "cached")):
    hostile["status"] = status
    for one in hostile["stages"]:
        one["state"] = state
    text, words = page(hostile)
    is_(re.findall(r"<(script|img|b\b|!--)", text), [], "hostile text in every field makes no element")
    is_((text.count("<h1>"), text.count("</details>"), re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u2066\ufeff\u200b\U000e0041]", text)), (1, text.count("<details"), []), "closes none, and hides nothing")
    headings(text)

# ---- the folder of artifacts: no way out of it ----
secret = os.path.join(tmpdir(), "secret")
os.mkdir(secret)
with open(os.path.join(secret, "notes.txt"), "w", encoding="ascii") as file:
    file.write("made\n")
os.chmod(secret, 0o755)
folder = os.path.join(tmpdir(), "kept")
os.mkdir(folder)
os.chmod(folder, 0o755)
os.symlink(secret, os.path.join(folder, "use"))
for name in "use", "../secret", secret, "..", ".", "":
    led = copy.deepcopy(two.result)
    led["stages"][2]["files"]["folder"] = name
    text, words = page(led, "--artifacts-dir", folder)
    ok("<pre" not in text, f"a stage's folder that leads elsewhere is not entered: {name[-12:]!r}")
is_(jobs.leavings(), [], "nothing is left")
done()
