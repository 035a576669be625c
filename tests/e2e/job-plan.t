#!/usr/bin/python3
"""A plan tells what would run, with every limit and rule, and starts nothing."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from jobs import Jobs, stage
from pf import *

jobs = Jobs()
DOC = {"name": "planned", "image": "@host", "source": {"git": "https://git.example:8443/a.git", "max-bytes": "5M"},
       "stages": [stage("build", "make", "all", kind="build", memory="1G", outputs=["out:max=1M:files=7"], inputs={"copy": ["@source:src"]}, workdir="/scratch/src"),
                  stage("run", "./x", "@{n}", egress={"allow": ["api.example:443"], "bytes": "1M"}, inputs={"read-only": ["@build"]})],
       "matrix": {"parameters": {"n": [1, 2, 3]}}}
path = jobs.document(DOC)
run = jobs.verb("plan", path)
text = run.out.decode()
is_(run.code, 0, "a plan", run)
for line in ("https://git.example:8443/a.git: 5242880 bytes and 20000 entries at most", "git.example:8443 is all that its fetch may reach", "severity error stops it",
             "stage fetch (build, never cached)", 'allow                  ["git.example:8443"]  (job)', "stage build (build)", "command                make all", "memory                 1G  (job)", "output                 out: 1048576 bytes and 7 entries at most",
             "stage run (run, 3 runs)", 'allow                  ["api.example:443"]  (job)', "egress-bytes           1M  (job)", "pids                   64", "parameter n: 1 2 3"):
    ok(line in text, f"says: {line}", text)
run = jobs.verb("plan", "--json", path)
plan = json.loads(run.out)
is_((plan["schema"], [(one["name"], one["kind"], one["runs"]) for one in plan["stages"]]), ("pinfold.job-plan/1", [("fetch", "build", 1), ("build", "build", 1), ("run", "run", 3)]), "the same as JSON", run)
spec = plan["stages"][1]["spec"]
ok(not list(load_schema("spec").iter_errors({key: value for key, value in spec.items() if key != "artifacts"})), "each with its whole spec", str(spec))
fetch, run = [[stage["spec"]["egress"][key] for key in ("allow", "bytes")] for stage in plan["stages"][::2]]
is_((spec["memory"], spec["workdir"], run), (1 << 30, "/scratch/src", [["api.example:443"], 1 << 20]), "and what it says")
is_(fetch, [["git.example:8443"], 2 * (5 << 20) + (64 << 20)], "the fetch, too")
MOST = (1 << 63) - 1
run = jobs.verb("plan", "--json", jobs.document({**DOC, "source": {**DOC["source"], "max-bytes": MOST}}))
spec = json.loads(run.out)["stages"][0]["spec"]
is_((spec["memory"], spec["scratch"], spec["egress"]["bytes"]), (MOST, MOST, MOST), "twice as much as can be said, and more, is as much as can be said", run)
ok(not os.path.exists(os.path.join(jobs.path, "jobs")), "nothing was made")
run = jobs.verb("plan", jobs.document('{"stages": 1}'))
ok(run.code == 125 and b":1:12:" in run.err, "a plan of what is wrong says where", run)
done()
