#!/usr/bin/python3
"""examples/paper, from a git server over HTTPS to validated artifacts: small runs first, the full one only when it is approved, and out of a
budget that jobs share."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet
from git_server import GitServer
from jobs import Jobs
from pf import *
from software import place_of

EXAMPLE = os.path.join(ROOT, "examples/paper")
HOUR = 3600 * 1000 * 1000


def document(server, **cost):
    """job.json with the test's own images, certificate and schema; members of cost replaced."""
    with open(os.path.join(EXAMPLE, "job.json"), encoding="utf-8") as file:
        job = json.load(file)
    schema = staged(os.path.join(EXAMPLE, "result.schema.json"))
    job["image"] = rootfs("runtimes")
    job["source"].update(image=place_of("git"), ca=server.ca)
    collect = job["stages"][0]["artifacts"]["collect"]
    job["stages"][0]["artifacts"]["collect"] = [rule.replace("examples/paper/result.schema.json", schema) for rule in collect]
    job["cost"].update(cost)
    return job


def found(folder, name):
    """Paths of the files of that name below a folder."""
    return sorted(os.path.join(top, name) for top, _, files in os.walk(folder) if name in files)


def small(size):
    return {"name": f"n{size}", "scale": size, "set": {"size": str(size)}}


def full(size):
    return {"scale": size, "set": {"size": str(size)}}


def files_of(folder):
    """{path: content} of a folder."""
    paths = [os.path.join(top, name) for top, _, names in os.walk(folder) for name in names]
    return {os.path.relpath(path, folder): open(path, "rb").read() for path in paths}


if not os.path.isdir(os.path.join(ROOT, "build/rootfs/runtimes")) or not place_of("git"):
    skip_all("no images: run scripts/rootfs languages and scripts/rootfs runtimes")
if not os.path.exists(os.path.join(BUILD, "libexec/pinfold/pinfold-scan")):
    skip_all("no pinfold-scan was built: run scripts/grammars")

with Internet() as net:
    server = GitServer(net, {"git.example": "93.184.216.40"})
    commit = server.repository("semicircle", files_of(os.path.join(EXAMPLE, "repository")))
    jobs = Jobs()

    # ---- as it stands: nobody has approved so much ----
    out = os.path.join(tmpdir(), "out")
    job = jobs.run(document(server), "--artifacts-dir", out, net=net, timeout=250)
    is_((job.status, job.code), ("needs-approval", 3), "the full configuration does not start by itself", job)
    is_(job.result["source"]["commit"], commit, "what was fetched is the commit that was published")
    cost = job.result["cost"]
    is_([(point["configuration"], point["scale"]) for point in cost["points"]], [("tiny", 400), ("small", 800), ("medium", 1600)], "three small ones ran", job)
    is_([cost["estimate"][name]["method"] for name in ("wall_usec", "cpu_usec")], ["power", "power"], "and a power of the size was fitted")
    cpu = cost["estimate"]["cpu_usec"]
    ok(cpu["low"] <= cpu["value"] <= cpu["high"] and cpu["high"] > 2000000, "the upper end is beyond the two seconds that are approved", str(cpu))
    ok(set(cost["over"]) & {"wall", "cpu-time"} and cost["measured"] is None and cost["by"] == "document", "which is said, and nothing was measured of it", str(cost))
    like(job.message, r"the full configuration may take .*cpu-time [0-9.]+ s \(approved 2 s\)", "for people, too")
    is_([row["name"] for row in job.result["stages"]].count("experiment"), 3, "no fourth run", job)
    is_((server.names.asked(), server.web.hosts()), ({"git.example"}, {"git.example"}), "one host was asked for, and spoken to")
    is_(jobs.leavings(), [], "nothing is left")

    # ---- approved ----
    out = os.path.join(tmpdir(), "out")
    job = jobs.run(document(server), "--artifacts-dir", out, "--approve", "wall=1h,cpu-time=1h", net=net, timeout=280)
    is_((job.status, job.code), ("succeeded", 0), "approved, it runs", job)
    cost = job.result["cost"]
    ok(cost["measured"]["cpu_usec"] > cost["points"][2]["measured"]["cpu_usec"], "what it took stands beside the estimate", str(cost))
    diag(f"cpu of the full one: estimated {cost['estimate']['cpu_usec']}, measured {cost['measured']['cpu_usec']}")
    is_((cost["by"], cost["approved"]["wall_usec"], cost["over"]), ("flag", HOUR, []), "who approved how much")
    results, plots = found(out, "result.json"), found(out, "plot.png")
    documents = [json.load(open(path, encoding="utf-8")) for path in results]
    is_(sorted(one["size"] for one in documents if "density" in one)[-1:], [3200], "the full one's result.json is handed back", str(results))
    ok(plots and open(plots[-1], "rb").read(8) == b"\x89PNG\r\n\x1a\n", "and its plot, which is a PNG", str(plots))
    kept = job.stages("experiment")[-1]["result"]["artifacts"]
    is_([(row["path"], row["status"], row["type"]) for row in kept], [("result.json", "kept", "json"), ("plot.png", "kept", "png")], "both were validated", str(kept))

    # ---- a budget that jobs share ----
    folder = tmpdir(mode=0o700)
    budget = os.path.join(folder, "budget.json")
    light = {"configurations": [small(100), small(200), small(400)], "full": full(500), "budget": {"wall": "1h"}, "budget-file": budget}
    made = jobs.verb("budget", "--create", "--cpu-time", "1ms", budget)
    is_(made.code, 0, "a budget of a millisecond", made)
    job = jobs.run(document(server, **light), "--artifacts-dir", os.path.join(tmpdir(), "out"), net=net)
    is_((job.status, job.code, job.result["cost"]["over"]), ("needs-approval", 3, ["budget-file"]), "too little is left there", job)
    ok("has too little left: cpu-time " in job.message and "asked, 0s of 0.001s used or reserved" in job.message and job.result["cost"]["reserved"] is None, "how much is asked and left is said", job.message)
    os.remove(budget)
    made = jobs.verb("budget", "--create", "--cpu-time", "1h", "--money", "1", "--price-cpu-hour", "0.5", budget)
    job = jobs.run(document(server, **light), "--artifacts-dir", os.path.join(tmpdir(), "out"), net=net)
    is_(job.status, "succeeded", "with an hour of it, it runs", job)
    cost = job.result["cost"]
    is_(cost["reserved"]["cpu_usec"], cost["estimate"]["cpu_usec"]["high"], "the upper end was reserved")
    is_(cost["settled"]["cpu_usec"], cost["measured"]["cpu_usec"], "and became what was measured")
    state = json.loads(jobs.verb("budget", "--json", budget).out)
    is_((state["spent"]["cpu_usec"], state["spent"]["runs"], state["settled"], state["abandoned"], state["reserved"]),
        (cost["measured"]["cpu_usec"], 1, 1, 0, []), "which the budget has", str(state))
    is_(state["spent"]["money_micro"], -(-cost["measured"]["cpu_usec"] * 500000 // HOUR), "and what it is worth, rounded up")
    job = jobs.run(document(server, **{**light, "budget-file": "/scratch/nothing.json"}), "--artifacts-dir", os.path.join(tmpdir(), "out"), net=net)
    is_((job.status, job.code), ("refused", 125), "a budget that is not there", job)
    ok("No such file" in job.message and job.stages("experiment") == [], "is said, and nothing runs first", job.message)
done()
