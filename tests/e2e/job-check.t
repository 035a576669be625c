#!/usr/bin/python3
"""What is wrong with a job is told with line and column before anything runs, and nothing that is unknown is accepted."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from jobs import Jobs, job_validator, stage
from pf import *

jobs = Jobs()
GOOD = {"image": "@host", "stages": [stage("a", "true", outputs=["out"]), stage("b", "true", inputs={"read-only": ["@a"]})]}
run = jobs.verb("check", jobs.document(GOOD))
is_((run.code, run.out.split(b": ")[1]), (0, b"a job of 2 stages\n"), "a good one", run)
ok(job_validator("job").is_valid(GOOD), "is good by the schema, too")
run = jobs.verb("check", jobs.document({"image": "@host", "stages": [stage("a", "true", artifacts={"collect": ["r.json"]})]}))
is_((run.code, run.out.split(b": ")[1]), (0, b"a job of 1 stage; it has artifacts, so run it with --artifacts-dir\n"), "one that wants more than the document to be run says what", run)


def placed(lines, mark="HERE"):
    """A document whose wrong place is marked: its text without the mark, and line:column of it."""
    text = "\n".join(lines)
    before = text[:text.index(mark)]
    return text.replace(mark, ""), f"{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"


STAGE = '"stages": [{"name": "a", "command": ["true"]}]'
WRONG = [
    ("unknown member", ['{"image": "@host",', ' HERE"stage": []}'], "unknown member 'stage'"),
    ("a member twice", ['{"image": "@host",', STAGE + ",", '  HERE"image": "@host"}'], "given twice"),
    ("a type", ['{"image": HERE7, ' + STAGE + "}"], "a string belongs here"),
    ("no stages", ['HERE{"image": "@host"}'], "a job has stages, or lang"),
    ("empty stages", ['{"stages": HERE[]}'], "it is empty"),
    ("a stage that is none", ['{"stages": [HERE7]}'], "here belongs an object"),
    ("a stage without a name", ['{"image": "@host", "stages": [HERE{"command": ["true"]}]}'], "a stage has a name"),
    ("a name that is none", ['{"image": "@host", "stages": [{"name": HERE"A b", "command": ["true"]}]}'], "is no name"),
    ("a name that is the job's", ['{"image": "@host", "stages": [{"name": HERE"fetch", "command": ["true"]}]}'], "the job's own word"),
    ("two stages of one name", ['{"image": "@host", "stages": [{"name": "a", "command": ["true"]},', 'HERE{"name": "a", "command": ["true"]}]}'], "two stages a"),
    ("no command", ['{"image": "@host", "stages": [HERE{"name": "a"}]}'], "command"),
    ("no image", ['{"stages": [HERE{"name": "a", "command": ["true"]}]}'], "image"),
    ("a kind", ['{"image": "@host", "stages": [{"name": "a", "kind": HERE"test", "command": ["true"]}]}'], "is not one of run, build"),
    ("an unknown key of a stage", ['{"image": "@host", "stages": [{"name": "a", "command": ["true"],', ' HERE"memry": "1G"}]}'], 'did you mean "memory"'),
    ("a key twice", ['{"image": "@host", "stages": [{"name": "a", "command": ["true"], "memory": "1G",', ' HERE"memory": "1G"}]}'], "memory: given twice"),
    ("a bad value of a key", ['{"image": "@host", "stages": [{"name": "a", "command": ["true"], "memory": HERE"1Q"}]}'], "memory"),
    ("a key that is the job's", ['{"image": "@host", "stages": [{"name": "a", "command": ["true"], HERE"stdout": "x"}]}'], "the job says this"),
    ("a scratch above the memory", ['{"image": "@host", "stages": [HERE{"name": "a", "command": ["true"], "memory": "16M", "scratch": "32M"}]}'], "scratch"),
    ("a folder for artifacts", ['{"image": "@host", "stages": [HERE{"name": "a", "command": ["true"], "artifacts": {"dir": "x", "collect": ["y"]}}]}'], "artifacts-dir"),
    ("an output with a pattern", ['{"image": "@host", "stages": [{"name": "a", "command": ["true"], "outputs": [HERE"*.o"]}]}'], "no pattern"),
    ("an output with a type", ['{"image": "@host", "stages": [{"name": "a", "command": ["true"], "outputs": [HERE"o:type=json"]}]}'], "max=SIZE and files=NUMBER alone"),
    ("an output that leads out", ['{"image": "@host", "stages": [{"name": "a", "command": ["true"], "outputs": [HERE"../o"]}]}'], "relative"),
    ("an output twice", ['{"image": "@host", "stages": [{"name": "a", "command": ["true"], "outputs": ["o", HERE"o"]}]}'], "given twice"),
    ("a stage that is not there", ['{"image": "@host", "stages": [{"name": "a", "command": ["true"], "inputs": {"copy": ["/etc/x", HERE"@z/o"]}}]}'], "no such stage"),
    ("a stage that comes later", ['{"image": "@host", "stages": [{"name": "a", "command": ["true"], "inputs": {"read-only": [HERE"@b"]}},',
                                  '{"name": "b", "command": ["true"], "outputs": ["o"]}]}'], "comes later"),
    ("a stage that takes what it makes", ['{"image": "@host", "stages": [{"name": "a", "command": ["true"], "outputs": ["o"], "inputs": {"read-only": [HERE"@a"]}}]}'], "makes itself"),
    ("an output that is not there", ['{"image": "@host", "stages": [{"name": "a", "command": ["true"], "outputs": ["o"]},', '{"name": "b", "command": ["true"], "inputs": {"copy": [HERE"@a/p"]}}]}'], "no output"),
    ("no outputs", ['{"image": "@host", "stages": [{"name": "a", "command": ["true"]}, {"name": "b", "command": ["true"], "inputs": {"copy": [HERE"@a"]}}]}'], "no outputs"),
    ("one of several outputs", ['{"image": "@host", "stages": [{"name": "a", "command": ["true"], "outputs": ["o", "p"]}, {"name": "b", "command": ["true"], "inputs": {"copy": [HERE"@a"]}}]}'],
     "more than one output"),
    ("a source that is not there", ['{"image": "@host", "stages": [{"name": "a", "command": ["true"], "inputs": {"copy": [HERE"@source"]}}]}'], "no source"),
    ("a parameter that is not set", ['{"image": "@host", "stages": [{"name": "a", "command": ["echo", HERE"@{n}"]}]}'], "nothing sets the parameter"),
    *((f"a parameter in {what}", ['{"image": "@host", "matrix": {"parameters": {"n": [1, 2]}}, "stages": [{"name": "a", "command": ["echo", "@{n}"],', text + "}]}"], "put into command and env alone")
      for what, text in (("outputs", '"outputs": ["o", HERE"o-@{n}"]'), ("inputs", '"inputs": {"copy": [HERE"/etc/@{n}:x"]}'), ("a link", '"inputs": {"read-only": [HERE"@{n}"]}'),
                         ("artifacts", '"artifacts": {"collect": [HERE"@{n}.txt"]}'), ("stdin", '"stdin": HERE"/tmp/@{n}"'), ("a limit", '"memory": HERE"@{n}M"'))),
    ("stdin for two", ['{"image": "@host", "stages": [{"name": "a", "command": ["true"], "stdin": "-"},', 'HERE{"name": "b", "command": ["true"], "stdin": "-"}]}'], "read once"),
    ("a reason of blanks", ['{"image": "@host", "source": {"folder": "x"}, "analyse": {"waivers": [HERE{"id": "a", "path": "b", "reason": " "}]}, ' + STAGE + "}"], "says nothing"),
    ("a parameter of an analyser", ['{"image": "@host", "source": {"folder": "x"}, "matrix": {"parameters": {"n": [1]}}, "analyse": {"tool": HERE{"command": ["a", "@{n}"]}},',
                                    '"stages": [{"name": "a", "command": ["@{n}"]}]}'], "no parameter is set"),
    ("stdin for an analyser", ['{"image": "@host", "source": {"folder": "x"}, "analyse": {"tool": HERE{"command": ["a"], "stdin": "-"}}, ' + STAGE + "}"], "and not the job's stdin"),
    ("a compiler nobody knows", ['{"image": "@host", "stages": [{"name": "a", "command": ["true"], "diagnostics": HERE"cobol"}]}'], "none of gcc"),
    ("plain http", ['{"image": "@host", "source": {"git": HERE"http://x.example/a"}, ' + STAGE + "}"], "https://"),
    ("a local transport", ['{"image": "@host", "source": {"git": HERE"file:///etc"}, ' + STAGE + "}"], "https://"),
    ("a helper as transport", ['{"image": "@host", "source": {"git": HERE"ext::sh -c id"}, ' + STAGE + "}"], "https://"),
    ("ssh", ['{"image": "@host", "source": {"git": HERE"git@x.example:a"}, ' + STAGE + "}"], "https://"),
    ("credentials", ['{"image": "@host", "source": {"git": HERE"https://u:p@x.example/a"}, ' + STAGE + "}"], "credentials"),
    ("a ref that is an option", ['{"image": "@host", "source": {"git": "https://x.example/a", "ref": HERE"--upload-pack=id"}, ' + STAGE + "}"], "no branch, tag or commit"),
    ("a digest that is none", ['{"image": "@host", "source": {"archive": "https://x.example/a", "digest": HERE"md5:00"}, ' + STAGE + "}"], "sha256:"),
    ("two sources", ['{"image": "@host", "source": {"git": "https://x.example/a", HERE"folder": "x"}, ' + STAGE + "}"], "one of git"),
    ("a ref for a folder", ['{"image": "@host", "source": HERE{"folder": "x", "ref": "main"}, ' + STAGE + "}"], "for git"),
    ("a waiver without a reason", ['{"image": "@host", "source": {"folder": "x"}, "analyse": {"waivers": [HERE{"id": "x", "path": "y"}]}, ' + STAGE + "}"], "a reason"),
    ("too many combinations", ['{"image": "@host", "matrix": {"parameters": {"a": ' + json.dumps(list(range(200))) + ', HERE"b": [1, 2]}}, ' + STAGE + "}"], "more than 256 combinations"),
    ("a matrix of nothing", ['{"image": "@host", "matrix": HERE{"slots": 2}, ' + STAGE + "}"], "has parameters"),
    ("a scale of 0", ['{"image": "@host", "cost": {"configurations": [{"scale": HERE0, "set": {"n": 1}}], "full": {"scale": 2, "set": {"n": 2}}}, ' + STAGE + "}"], "more than 0"),
    ("a small one that is larger", ['{"image": "@host", "cost": HERE{"configurations": [{"scale": 3, "set": {"n": 1}}], "full": {"scale": 2, "set": {"n": 2}}}, ' + STAGE + "}"], "not below"),
    ("sets that differ", ['{"image": "@host", "cost": HERE{"configurations": [{"scale": 1, "set": {"m": 1}}], "full": {"scale": 2, "set": {"n": 2}}}, ' + STAGE + "}"], "does not set"),
    ("a file with a colon in its name", ['{"image": "@host", "source": {"files": HERE["a:/b.py", "a:b.py"]}, "stages": [{"name": "a", "command": ["true"]}]}'], "'a:b.py' has a colon"),
    ("a language nobody knows", ['{"source": {"files": ["x.c"]}, "lang": HERE{"name": "cobol", "files": ["x.c"]}}'], "no template"),
    ("a template's file with another extension", ['{"source": {"files": ["x.py"]}, "lang": HERE{"name": "c", "files": ["x.py"]}}'], "x.py"),
    ("a scale beyond all", ['{"image": "@host", "cost": {"configurations": [{"scale": HERE1e-13, "set": {"n": 1}}], "full": {"scale": 2, "set": {"n": 2}}}, ' + STAGE + "}"], "a scale is from"),
    ("a budget of nothing", ['{"image": "@host", "cost": {"budget": HERE{}, "configurations": [{"scale": 1, "set": {"n": 1}}], "full": {"scale": 2, "set": {"n": 2}}}, ' + STAGE + "}"],
     "approves nothing"),
    ("cost of what costs the same", ['{"image": "@host", ' + STAGE + ',', '"cost": HERE{"configurations": [{"scale": 1, "set": {"n": 1}}], "full": {"scale": 2, "set": {"n": 2}}}}'],
     "no stage names a parameter"),
    ("cost of a template, whose words name nothing", ['{"source": {"files": ["x.c"]}, "lang": {"name": "c", "files": ["x.c"], "args": ["@{n}"]}, "cost": HERE{"configurations": '
                                                      '[{"scale": 1, "set": {"n": 1}}], "full": {"scale": 2, "set": {"n": 2}}}}'], "no stage names a parameter"),
    ("a sweep over nothing", ['{"image": "@host", "matrix": HERE{"parameters": {"n": [1, 2]}}, ' + STAGE + "}"], "no stage names a parameter"),
    ("cost and a matrix", ['{"image": "@host", "matrix": {"parameters": {"n": [1]}}, "cost": HERE{"configurations": [{"scale": 1, "set": {"n": 1}}], "full": {"scale": 2, "set": {"n": 2}}}, '
                           + STAGE + "}"], "not both"),
    ("lang and stages", ['{"image": "@host", "source": {"folder": "x"}, "lang": HERE"c", ' + STAGE + "}"], "the job has both"),
    ("a gate before nothing", ['{"image": "@host", "analyse": HERE{"gate": "note"}, ' + STAGE + "}"], "and there is none"),
    ("a host that is every host", ['{"image": "@host", "source": HERE{"git": "https://*/a"}, ' + STAGE + "}"], "asterisk"),
    ("a host that is many", ['{"image": "@host", "source": HERE{"git": "https://*.example/a"}, ' + STAGE + "}"], "wildcard"),
    ("a host that is here", ['{"image": "@host", "source": HERE{"git": "https://[::1]/a"}, ' + STAGE + "}"], "loopback"),
    ("a rule of the fetch", ['{"image": "@host", "source": HERE{"git": "https://x.example/a", "allow": ["*:443"]}, ' + STAGE + "}"], "asterisk"),
    ("limits of the fetch that cannot be", ['{"image": "@host", "source": HERE{"git": "https://x.example/a", "limits": {"memory": "16M", "scratch": "32M"}}, ' + STAGE + "}"], "scratch"),
    ("a ref that is an order", ['{"image": "@host", "source": {"git": "https://x.example/a", "ref": HERE"+main"}, ' + STAGE + "}"], "no branch, tag or commit"),
    ("no JSON", ['{"image": "@host",HERE}'], ""),
    ("nested too deep", ['{"image": ' + "[" * 7 + "HERE[" + "]" * 8 + "}"], "nested too deep"),
]
for what, lines, says in WRONG:
    text, place = placed(lines)
    run = jobs.verb("check", jobs.document(text))
    err = run.err.decode()
    ok(run.code == 125 and re.search(r"job\.json:" + place + r": ", err) and says in err, f"{what}: refused at {place}, and why", err)

# ---- the schema refuses what it can say, too ----
MIXED = [(what, lines) for what, lines, _ in WRONG
         if what in ("unknown member", "a type", "no stages", "empty stages", "a stage without a name", "a name that is none", "a kind", "an unknown key of a stage",
                     "a bad value of a key", "a key that is the job's", "an output with a pattern", "an output with a type", "plain http", "a local transport",
                     "a helper as transport", "credentials", "a ref that is an option", "a digest that is none", "two sources", "a ref for a folder",
                     "a waiver without a reason", "a matrix of nothing", "a scale of 0", "a scale beyond all", "a budget of nothing", "cost and a matrix", "lang and stages", "a gate before nothing",
                     "a ref that is an order")]
for what, lines in MIXED:
    ok(not job_validator("job").is_valid(json.loads(placed(lines)[0])), f"{what}: not good by the schema")

# ---- a refusal is a result, and starts nothing ----
job = jobs.run('{"image": "@host", "stages": [{"name": "a", "command": ["true"], "memory": 1}]}')
is_((job.code, job.status, job.result["stages"], job.result["id"]), (125, "refused", [], None), "run: a refused job has a result", job)
ok(":1:" in job.message and not os.path.exists(os.path.join(jobs.path, "jobs")), "which says where; nothing was made", job)
run = jobs.verb("check", "/nonexistent/job.json")
ok(run.code == 125 and b"/nonexistent/job.json" in run.err, "a file that is not there", run)
run = jobs.verb("check")
ok(run.code == 125 and b"a word is missing" in run.err, "no file named", run)
run = pinfold("job", "frobnicate")
ok(run.code == 125 and b"no such verb" in run.err, "a verb that is none", run)
run = pinfold("job", "--help")
ok(run.code == 0 and all(verb in run.out for verb in (b"run", b"check", b"plan", b"gc")), "--help", run)
for verb in ("run", "check", "plan", "gc"):
    run = pinfold("job", verb, "--help")
    ok(run.code == 0 and run.out.startswith(f"Usage: pinfold job {verb}".encode()), f"{verb} --help", run)
done()
