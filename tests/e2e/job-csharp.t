#!/usr/bin/python3
"""examples/csharp-playground: a submission with P/Invoke, reflection and unsafe code is stopped by the gate before anything of it is compiled; its
clean twin is compiled where there is a compiler, runs where there is none, and its lines come as they are printed."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet
from git_server import GitServer
from jobs import Jobs
from pf import *
from software import place_of

EXAMPLE = os.path.join(ROOT, "examples/csharp-playground")
PRIMES = [n for n in range(2, 100) if all(n % d for d in range(2, n))]


def document(server, name):
    """NAME.json with the test's own images and certificate."""
    with open(os.path.join(EXAMPLE, name + ".json"), encoding="utf-8") as file:
        job = json.load(file)
    job["source"].update(image=place_of("git"), ca=server.ca)
    job["lang"].update({"build-image": place_of("mcs", host=False), "run-image": rootfs("runtimes")})
    return job


def files_of(folder):
    """{path: content} of a folder."""
    paths = [os.path.join(top, name) for top, _, names in os.walk(folder) for name in names]
    return {os.path.relpath(path, folder): open(path, "rb").read() for path in paths}


if not place_of("mcs", host=False) or not place_of("git") or not os.path.isdir(os.path.join(ROOT, "build/rootfs/runtimes")):
    skip_all("no images: run scripts/rootfs languages and scripts/rootfs runtimes")
if not os.path.exists(os.path.join(BUILD, "libexec/pinfold/pinfold-scan")):
    skip_all("no pinfold-scan was built: run scripts/grammars")

with Internet() as net:
    server = GitServer(net, {"git.example": "93.184.216.40"})
    commits = {name: server.repository(name, files_of(os.path.join(EXAMPLE, name))) for name in ("submission", "twin")}
    jobs = Jobs()

    # ---- the submission ----
    job = jobs.run(document(server, "submission"), net=net)
    is_((job.status, job.code), ("stopped", 2), "the gate stops it", job)
    is_(job.result["source"]["commit"], commits["submission"], "it is what was sent in")
    rows = {row["id"]: row for row in job.result["analysis"]["findings"]}
    is_([(name, rows.get(name, {}).get("severity"), rows.get(name, {}).get("path")) for name in ("csharp.pinvoke", "csharp.unsafe", "csharp.reflection")],
        [("csharp.pinvoke", "error", "Program.cs"), ("csharp.unsafe", "error", "Program.cs"), ("csharp.reflection", "warning", "Program.cs")],
        "P/Invoke, unsafe code and reflection are found, with their severities", job)
    with open(os.path.join(EXAMPLE, "submission/Program.cs"), encoding="utf-8") as file:
        lines = file.read().splitlines()
    is_([word in lines[rows[name]["line"] - 1] for name, word in (("csharp.pinvoke", "DllImport"), ("csharp.unsafe", "unsafe"))], [True, True], "each where it is", job)
    is_([(row["name"], row["state"]) for row in job.result["stages"] if row["name"] in ("build", "run")], [("build", "skipped"), ("run", "skipped")], "nothing of it was compiled, or ran", job)
    is_(job.out, b"", "and nothing was printed")

    # ---- let through by hand, the sandbox holds it ----
    waived = document(server, "submission")
    waived["analyse"]["waivers"] = [{"id": name, "path": "Program.cs", "reason": "to see what it does"} for name in ("csharp.pinvoke", "csharp.unsafe")]
    job = jobs.run(waived, net=net)
    ok(job.stage("build")["ok"] and job.status == "failed" and b"shadow: -1" in job.out, "waived, it is compiled and runs; the host's files are not there for it, and its peek ends it", job)
    is_([row["used"] > 0 for row in job.result["analysis"]["waivers"]], [True, True], "what was waived is on record", job)

    # ---- the twin ----
    with jobs.start(document(server, "twin"), net=net) as running:
        places = jobs.places
        first = running.line(timeout=200)
        with open(places[1], encoding="utf-8") as file:
            ended = [event for event in map(json.loads, file.read().splitlines()) if event["what"] == "ended" and event.get("stage") == "run"]
        job = jobs.finished(running, places, timeout=200)
    is_((first, ended), ("2 is prime", []), "the first line is there while the program still runs", job)
    is_((job.status, job.code), ("succeeded", 0), "the twin passes the gate, is compiled, and runs", job)
    is_(job.out.decode(), "".join(f"{n} is prime\n" for n in PRIMES) + f"primes below 100: {len(PRIMES)}\n", "and what it prints is all that is printed", job)
    is_([(row["name"], row["state"], row["ok"]) for row in job.result["stages"] if row["name"] in ("build", "run")], [("build", "ran", True), ("run", "ran", True)], "two stages", job)
    is_([finding for finding in job.result["analysis"]["findings"] if finding["severity"] == "error"], [], "with no finding that stops", job)
    is_((server.names.asked(), server.web.hosts()), ({"git.example"}, {"git.example"}), "one host was asked for, and spoken to")
    is_(jobs.leavings(), [], "nothing is left")
done()
