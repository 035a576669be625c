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
script = text[text.index("sh -c\n"):text.index("  output                 source")]
ok(all(line.startswith("    | ") for line in script.split("\n")[1:-2]) and "    | cd source\n" in script and "\\x" not in script, "a script line by line", script)
is_(script.split("\n")[-2].split(), ["fetch", "https://git.example:8443/a.git", "HEAD", "''", "''"], "and behind it its arguments")
run = jobs.verb("plan", jobs.document({"image": "@host", "stages": [stage("a", "echo", "a b", "", "it's", "$X", "\x1b[31m", "plain"), stage("b", "sh", "-c", "\techo \x1b[1m\n\necho 2\n")]}))
ok(b"echo 'a b' '' 'it'\\''s' '$X' '\\x1b[31m' plain\n" in run.out, "words as for a shell, and nothing that drives a terminal", run)
ok(b"    |     echo \\x1b[1m\n    | \n    | echo 2\n" in run.out, "nor in a script", run)
run = jobs.verb("plan", "--json", path)
plan = json.loads(run.out)
is_((plan["schema"], [(one["name"], one["kind"], one["runs"]) for one in plan["stages"]]), ("pinfold.job-plan/1", [("fetch", "build", 1), ("build", "build", 1), ("run", "run", 3)]), "the same as JSON", run)
spec = plan["stages"][1]["spec"]
ok(not list(load_schema("spec").iter_errors({key: value for key, value in spec.items() if key != "artifacts"})), "each with its whole spec", str(spec))
fetch, run = [[stage["spec"]["egress"][key] for key in ("allow", "bytes")] for stage in plan["stages"][::2]]
is_((spec["memory"], spec["workdir"], run), (1 << 30, "/scratch/src", [["api.example:443"], 1 << 20]), "and what it says")
is_(fetch, [["git.example:8443"], 2 * (5 << 20) + (64 << 20)], "the fetch, too")
env = plan["stages"][0]["spec"]["env"]
env = {word.split("=")[0]: word.split("=")[1] for word in env} if isinstance(env, list) else env
is_({name: env.get(name) for name in ("GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL", "GIT_ATTR_NOSYSTEM", "GIT_TERMINAL_PROMPT", "GIT_ASKPASS", "GIT_ALLOW_PROTOCOL", "GIT_LFS_SKIP_SMUDGE")},
    {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_ATTR_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "/bin/false", "GIT_ALLOW_PROTOCOL": "https",
     "GIT_LFS_SKIP_SMUDGE": "1"}, "git in it has no configuration of the image's or anybody's, asks nobody and speaks https alone")
MOST = (1 << 63) - 1
run = jobs.verb("plan", "--json", jobs.document({**DOC, "source": {**DOC["source"], "max-bytes": MOST}}))
spec = json.loads(run.out)["stages"][0]["spec"]
is_((spec["memory"], spec["scratch"], spec["egress"]["bytes"]), (MOST, MOST, MOST), "twice as much as can be said, and more, is as much as can be said", run)
ok(not os.path.exists(os.path.join(jobs.path, "jobs")), "nothing was made")
run = jobs.verb("plan", jobs.document('{"stages": 1}'))
ok(run.code == 125 and b":1:12:" in run.err, "a plan of what is wrong says where", run)
run = jobs.verb("plan", "--json", jobs.document({"image": "@host", "source": {"folder": "/etc"}, "analyse": {"tool": {"command": ["look", "close"], "memory": "77M"}}, "stages": [stage("a", "true")]}))
is_([(one["name"], one["spec"]["command"]) for one in json.loads(run.out)["stages"]], [("fetch", ["true"]), ("analyse", ["look", "close"]), ("a", ["true"])], "another analyser runs, and so is in the plan", run)
done()
