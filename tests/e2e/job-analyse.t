#!/usr/bin/python3
"""What was fetched is analysed before anything of it runs; the gate stops it, a waiver with a reason lets it through, and both are in the result. Another analyser's findings count like ours."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from jobs import Jobs, stage
from pf import *

if not os.path.exists(os.path.join(BUILD, "libexec/pinfold/pinfold-scan")):
    skip_all("no pinfold-scan was built: run scripts/grammars")
jobs = Jobs()
slim = busybox_image()
source = tmpdir()
with open(os.path.join(source, "bad.py"), "w", encoding="ascii") as file:
    file.write("import os\nos.system('id')\neval(input())\n")
with open(os.path.join(source, "good.py"), "w", encoding="ascii") as file:
    file.write("# os.system is only named here\nprint(1)\n")


def run(analyse, folder=source, *flags, **more):
    document = {"image": slim, "source": {"folder": folder}, "stages": [stage("use", "cat", "/run/input/source/good.py", inputs={"read-only": ["@source"]})], **more}
    if analyse is not None:
        document["analyse"] = analyse
    return jobs.run(document, *flags)


job = run(None)
is_((job.code, job.status, job.states()), (2, "stopped", [("fetch", "ran", True), ("use", "skipped", False)]), "an error stops it, where nothing else is said", job)
found = job.result["analysis"]["findings"]
is_([(row["id"], row["severity"], row["path"], row["line"], row["waived"]) for row in found if row["severity"] == "error"], [("python.dynamic-code", "error", "bad.py", 3, None)], "the finding has its place", job)
ok(job.result["analysis"]["gate"] == "error" and job.result["analysis"]["counts"]["error"] == 1 and job.result["cause"]["stage"] == "analyse", "and is counted", job)
ok(b"bad.py:3:1: error: " in job.err, "people are told", job)
ok({row["path"] for row in found} == {"bad.py"}, "an innocent look-alike has none", job)
WAIVER = {"id": "python.dynamic-code", "path": "bad.py", "reason": "reviewed: reads a number"}
job = run({"waivers": [WAIVER, {"id": "python.none", "path": "*", "reason": "of nothing"}]})
is_((job.status, job.result["analysis"]["waivers"]), ("succeeded", [{**WAIVER, "used": 1}, {"id": "python.none", "path": "*", "reason": "of nothing", "used": 0}]), "a waiver lets it through, and is recorded", job)
is_([row["waived"] for row in job.result["analysis"]["findings"] if row["severity"] == "error"], [WAIVER["reason"]], "with its reason at the finding", job)
for gate, status in (("none", "succeeded"), ("error", "succeeded"), ("warning", "stopped"), ("note", "stopped")):
    job = run({"gate": gate, "waivers": [WAIVER]})
    is_((job.status, job.result["analysis"]["gate"]), (status, gate), f"a gate of {gate}", job)
job = run("none")
is_((job.status, job.result["analysis"]), ("succeeded", None), "none: nothing is analysed, and the result says so", job)
os.unlink(os.path.join(source, "bad.py"))
job = run(None)
is_((job.status, job.result["analysis"]["counts"]), ("succeeded", {"error": 0, "warning": 0, "note": 0, "waived": 0}), "nothing found: it runs", job)

# ---- a note alone, and rules of one's own ----
noted = tmpdir()
for name in "good.py", "conftest.py":
    with open(os.path.join(noted, name), "w", encoding="ascii") as file:
        file.write("print(1)\n")
for gate, status in (("warning", "succeeded"), ("note", "stopped")):
    job = run({"gate": gate}, noted)
    is_((job.status, [row["id"] for row in job.result["analysis"]["findings"]]), (status, ["install.test"]), f"a note and a gate of {gate}", job)
rules = tmpdir()
os.mkdir(os.path.join(rules, "python"), 0o755)
with open(os.path.join(rules, "python/print.scm"), "w", encoding="ascii") as file:
    file.write('; id: own.print\n; severity: error\n; message: prints\n; sandbox: none\n((call function: (_) @name) @found (#resolves? @name "print"))\n')
job = run({"rules": rules}, noted)
is_((job.status, sorted({row["id"] for row in job.result["analysis"]["findings"]})), ("stopped", ["install.test", "own.print"]), "rules of the job's count", job)

# ---- no analysis, no run ----
libexec = tmpdir()
for name in os.listdir(os.path.join(BUILD, "libexec/pinfold")):
    if name != "pinfold-scan":
        os.symlink(os.path.join(os.path.dirname(program_path()), "../libexec/pinfold", name), os.path.join(libexec, name))
job = jobs.run({"image": slim, "source": {"folder": source}, "stages": [stage("a", "true")]}, env={"PINFOLD_EXEC_PATH": libexec})
is_((job.code, job.status, job.result["cause"]["stage"], job.stage("a")["state"]), (1, "failed", "analyse", "skipped"), "without a scanner nothing runs", job)
ok("pinfold-scan is not there" in job.message, "and why", job)
os.symlink("/bin/false", os.path.join(libexec, "pinfold-scan"))
job = jobs.run({"image": slim, "source": {"folder": source}, "stages": [stage("a", "true")]}, env={"PINFOLD_EXEC_PATH": libexec})
is_((job.status, job.result["cause"]["stage"]), ("failed", "analyse"), "nor with one that fails", job)
os.unlink(os.path.join(libexec, "pinfold-scan"))
os.symlink("/bin/true", os.path.join(libexec, "pinfold-scan"))
job = jobs.run({"image": slim, "source": {"folder": source}, "stages": [stage("a", "true")]}, env={"PINFOLD_EXEC_PATH": libexec})
is_((job.status, job.result["cause"]["stage"]), ("failed", "analyse"), "nor with one that says nothing", job)

# ---- another analyser ----
LOG = {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "other"}}, "results": [
    {"ruleId": "other.rule", "level": "error", "message": {"text": "it does not like it"},
     "locations": [{"physicalLocation": {"artifactLocation": {"uri": "good.py"}, "region": {"startLine": 2}}}]}]}]}


def tool(text, code=0, **more):
    return {"command": ["sh", "-c", "test -f /run/input/source/good.py && cat > findings.sarif <<'END'\n" + text + f"\nEND\nexit {code}"], **more}


for code in (0, 1):
    job = run({"tool": tool(json.dumps(LOG), code)})
    is_((job.status, [(row["id"], row["tool"], row["line"]) for row in job.result["analysis"]["findings"]]) if job.result["analysis"] else job.status,
        ("stopped", [("other.rule", "other", 2)]), f"findings of another analyser count, whatever it exits with ({code})", job)
is_(job.stage("analyse")["kind"], "analyse", "its run is in the result", job)
job = run({"tool": tool(json.dumps(LOG)), "waivers": [{"id": "other.rule", "path": "*.py", "reason": "ours to say"}]})
is_(job.status, "succeeded", "and can be waived", job)
for what, one in (("no JSON", tool("x")), ("no SARIF", tool('{"version": "1.0"}')), ("nothing", {"command": ["true"]}), ("nothing in time", {"command": ["sleep", "100"], "wall": "200ms"})):
    job = run({"tool": one})
    is_((job.code, job.status, job.result["cause"]["stage"], job.stage("use")["state"]), (1, "failed", "analyse", "skipped"), f"one that leaves {what}: nothing runs", job)
is_(jobs.leavings(), [], "nothing is left")
# A file would be looked at as "source", which is no name of code, and then handed on.
with open(os.path.join(source, "alone.py"), "w", encoding="ascii") as file:
    file.write("eval(input())\n")
job = run(None, os.path.join(source, "alone.py"))
is_((job.code, job.status, job.result["cause"]["stage"], job.stage("use")["state"]), (1, "failed", "fetch", "skipped"), "a file is no folder: nothing runs", job)
os.unlink(file.name)
empty = json.dumps({**LOG, "runs": [{**LOG["runs"][0], "results": []}]})
for code, ended in (125, "succeeded"), (126, "failed"), (139, "failed"):
    job = run({"tool": tool(empty, code)})
    is_(job.status, ended, f"one that exits with {code} and found nothing: {ended}", job)
failed = {**LOG, "runs": [{**LOG["runs"][0], "results": [], "invocations": [{"executionSuccessful": False}]}]}
job = run({"tool": tool(json.dumps(failed))})
is_((job.code, job.status, job.result["cause"]["stage"], job.stage("use")["state"]), (1, "failed", "analyse", "skipped"), "one that says that it failed: nothing runs", job)
done()
