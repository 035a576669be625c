#!/usr/bin/python3
"""Stages run in order, each in a fresh sandbox; what passes between them is what was declared, read-only; the run stage sees no compiler; one result says it all."""
import os
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from jobs import Jobs, stage
from pf import *
from software import place_of

jobs = Jobs()
slim = busybox_image()
gcc = place_of("gcc") or skip_all("no gcc to be had: run scripts/rootfs languages")

# ---- C: built with a compiler, run without ----
MAIN = '#include <stdio.h>\n#include "greeting.h"\nint main(void)\n{\n\tint unused;\n\tputs(GREETING);\n\treturn 0;\n}\n'
source = tmpdir()
os.mkdir(os.path.join(source, "src"))
for name, text in (("src/main.c", MAIN), ("src/greeting.h", '#define GREETING "hello from a job"\n')):
    with open(os.path.join(source, name), "w", encoding="ascii") as file:
        file.write(text)
TWO = {"name": "two stages", "source": {"folder": source}, "analyse": "none", "stages": [
    stage("compile", "gcc", "-static", "-Wall", "-o", "out/hello", "/run/input/source/src/main.c", kind="build", image=gcc, outputs=["out"], diagnostics="gcc",
          inputs={"read-only": ["@source"], "copy": ["@source/.."]}),
    stage("run", "sh", "-c", "/run/input/bin/hello; for tool in gcc cc ld as; do command -v $tool; done; ls /run/input /scratch; : > /run/input/bin/x", image=slim,
          inputs={"read-only": ["@compile:bin"]})]}
TWO["stages"][0]["inputs"].pop("copy")
TWO["stages"][0]["command"] = ["sh", "-c", "mkdir out && exec gcc -static -Wall -o out/hello /run/input/source/src/main.c"]
job = jobs.run(TWO)
is_((job.status, job.code, job.states()), ("failed", 1, [("fetch", "ran", True), ("compile", "ran", True), ("run", "ran", False)]), "the last stage's last command fails", job)
is_(job.out, b"hello from a job\n/run/input:\nbin\n\n/scratch:\n", "what was built runs; no compiler, no source, an empty scratch", job)
ok(b"Read-only file system" in job.err, "and what was handed on cannot be changed", job)
is_(job.result["cause"], {"stage": "run", "message": "stage run: exited with code 1"}, "the cause", job)
rows = job.stage("compile")["diagnostics"]
is_([(row["file"], row["line"], row["severity"], row["code"]) for row in rows], [("/run/input/source/src/main.c", 5, "warning", "-Wunused-variable")], "the compiler's words, read", job)
is_([job.stage(name)["result"]["status"] for name in ("fetch", "compile", "run")], ["exited"] * 3, "each stage's whole result is in it")
ok(b"-Wunused-variable" in job.err, "what a build prints is on stderr", job)
source_row = job.result["source"]
is_((source_row["kind"], source_row["from"], source_row["bytes"]), ("folder", source, len(MAIN) + 36), "the source", job)
is_(source_row["digest"], job.stage("fetch")["outputs"][0]["digest"], "and its digest", job)
is_([event["what"] for event in job.events if event["what"] != "run"], ["begun"] + ["started", "ended"] * 3 + ["finished"], "events of the job", job)
inner = [(event["stage"], event["event"]["event"]) for event in job.events if event["what"] == "run"]
ok(all((name, "started") in inner and (name, "ended") in inner for name in ("fetch", "compile", "run")), "and of each stage's run", job)
is_(jobs.leavings(), [], "nothing of it is left")

# ---- what passes from stage to stage ----
MAKE = "mkdir -p tree/a tree/closed; echo 1 > tree/a/f; chmod 750 tree/a/f; ln -s a/f tree/l; echo 2 > tree/closed/g; chmod 0 tree/closed; echo 3 > one; chmod 705 one; echo 4 > undeclared"
job = jobs.run({"image": slim, "stages": [
    stage("make", "sh", "-c", MAKE, kind="build", outputs=["tree", "one"]),
    stage("use", "sh", "-c", "cd /run/input && stat -c '%a %n' tree/a/f one && cat tree/l tree/closed/g one && ls && cd /scratch && cat copy/a/f && echo x >> copy/a/f && cat copy/a/f",
          inputs={"read-only": ["@make/tree", "@make/one"], "copy": ["@make/tree:copy"]}),
    stage("again", "cat", "/run/input/tree/a/f", inputs={"read-only": ["@make/tree"]})]})
is_((job.status, job.out), ("succeeded", b"1\n"), "a later stage gets what was declared, as it was declared; the last one's output is the job's", job)
like(job.err.decode(), r"(?s)750 tree/a/f\n705 one\n1\n2\n3\none\ntree\n1\n1\nx\n", "modes, links, closed folders; and a copy of one's own, which changes nothing")

base = tmpdir()
job = jobs.run({"image": slim, "stages": [stage("make", "sh", "-c", "echo 1 > one", outputs=["one"]), stage("use", "cat", "/run/input/one", inputs={"read-only": ["@make"]})]},
               env={"PINFOLD_INPUT_BASE": base})
is_((job.status, job.out), ("succeeded", b"1\n"), "what a stage handed on need not lie where inputs must", job)
job = jobs.run({"image": slim, "stages": [stage("use", "true", inputs={"read-only": [source]})]}, env={"PINFOLD_INPUT_BASE": base})
ok(job.status == "failed" and "does not lie in" in job.message, "anything else does", job)

# ---- defaults as strict as those of a run, and tighter for a run stage ----
LIMITS = "cat /proc/self/limits | grep -c . > /dev/null; df -k /scratch | tail -1 | awk '{print $2}'; ls /sys/class/net 2>/dev/null; cat /proc/self/stat | awk '{print $19}'"
job = jobs.run({"image": slim, "stages": [stage("build", "sh", "-c", LIMITS, kind="build"), stage("run", "sh", "-c", LIMITS)]})
is_(job.status, "succeeded", "it runs", job)
requested = {name: {row["name"]: row["requested"] for row in job.stage(name)["result"]["guarantees"]} for name in ("build", "run")}
is_([requested["build"][key] for key in ("memory", "pids", "scratch", "output")], ["512M", "256", "256M", "16M"], "a build stage has a run's defaults")
is_([requested["run"][key] for key in ("memory", "pids", "scratch", "output")], ["512M", "64", "64M", "4M"], "a run stage less")
is_(job.out.split(), [b"65536", b"19"], "which it sees inside: a small scratch, and the lowest priority", job)
like(job.err.decode(), r"(?m)^262144\n0$", "while a build stage has a whole one, and that of any run")
with socket.create_server(("127.0.0.1", 0)) as server:
    port = server.getsockname()[1]
    socket.create_connection(("127.0.0.1", port)).close()
    server.accept()[0].close()
    ok(True, "the control: something listens on the host's loopback")
    server.settimeout(0.2)
    job = jobs.run({"image": slim, "stages": [stage(kind, "sh", "-c", f"nc -w 2 127.0.0.1 {port} < /dev/null && echo reached; ls /sys/class/net /proc/net/route 2>/dev/null; grep -c : /proc/net/dev; true", kind=kind)
                                              for kind in ("build", "run")]})
    reached = False
    try:
        server.accept()
        reached = True
    except TimeoutError:
        pass
ok(not reached and b"reached" not in job.out + job.err, "neither reaches anything", job)

# ---- streams, environment, artifacts ----
out = os.path.join(tmpdir(), "out")
job = jobs.run({"image": slim, "stages": [stage("first", "sh", "-c", "echo first; echo err >&2; echo a > r.txt", artifacts={"collect": ["*.txt:required"]}),
                                          stage("second", "sh", "-c", "cat; echo $X > r.json", stdin="-", env=["X={}"], artifacts={"collect": ["r.json:type=json", "d:type=tree"]})]},
               "--artifacts-dir", out, stdin=b"from the caller")
is_((job.status, job.out), ("succeeded", b"from the caller"), "stdin is the job's", job)
found = {os.path.relpath(os.path.join(folder, name), out) for folder, _, names in os.walk(out) for name in names}
is_(found, {"first/r.txt", "first/stdout", "first/stderr", "second/r.json", "second/stdout", "second/stderr"}, "artifacts and what stages said come to the folder", job)
is_((open(os.path.join(out, "first/stdout")).read(), open(os.path.join(out, "first/stderr")).read()), ("first\n", "err\n"), "whole, and apart")
is_(job.stage("first")["files"], {"folder": "first", "stdout": "stdout", "stderr": "stderr"}, "which the result names", job)
clash = os.path.join(tmpdir(), "clash")
job = jobs.run({"image": slim, "stages": [stage("a", "sh", "-c", "echo own > stdout; echo said; echo own > stderr; echo complained >&2; echo own > %stdout", artifacts={"collect": ["*"]})]}, "--artifacts-dir", clash)
said = job.stage("a")["files"]
kept = {name: open(os.path.join(clash, "a", name), encoding="ascii").read() for name in sorted(os.listdir(os.path.join(clash, "a")))} if job.status == "succeeded" else {}
is_(kept, {"%25stdout": "own\n", "%stderr": "complained\n", "%stdout": "said\n", "stderr": "own\n", "stdout": "own\n"}, "artifacts that are called as what a stage says is: both are handed back", job)
is_((said["stdout"], said["stderr"]), ("%stdout", "%stderr"), "and the result says which is which", job)
job = jobs.run({"image": slim, "stages": [stage("a", "true")]}, "--artifacts-dir", out)
is_((job.status, job.result["stages"]), ("refused", []), "a folder that is not empty is refused before anything runs", job)
job = jobs.run({"image": slim, "stages": [stage("a", "true", artifacts={"collect": ["x"]})]})
ok(job.status == "refused" and "--artifacts-dir" in job.message, "artifacts without a folder too", job)
feed = os.path.join(tmpdir(), "feed")
with open(feed, "w", encoding="ascii") as file:
    file.write("from a file\n")
job = jobs.run({"image": slim, "stages": [stage("a", "cat", stdin=feed)]})
is_(job.out, b"from a file\n", "stdin from a file", job)
job = jobs.run({"image": slim, "stages": [stage("a", "sh", "-c", "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done")]})
is_((len(job.out.split(b"\n")), job.out[-11:]), (20001, b"line 19999\n"), "a long output is passed on whole", job)
with jobs.start({"image": slim, "stages": [stage("a", "sh", "-c", "echo now; read x; echo $x", stdin="-")]}, stdin=subprocess.PIPE) as running:
    places = jobs.places
    is_(running.line(), "now", "output comes as it is made, not at the end")
    running.process.stdin.write(b"go\n")
    running.process.stdin.flush()
    job = jobs.finished(running, places)
is_((job.status, job.out), ("succeeded", b"now\ngo\n"), "and goes on", job)
done()
