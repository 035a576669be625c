#!/usr/bin/python3
"""scan writes SARIF 2.1.0 that keeps to the standard's rules, and reads what it wrote and what other analysers write."""
import copy
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *
from sarif_rules import complaints
from scans import *

FILES = {"src/a b.py": b"import os\neval(x)\nos.system('\xff\x1b[31m')\n", "src/\xc3\xa4%.sh".encode().decode("latin-1"): b"sudo ls\n", "x.py": b""}
run = scan(FILES)
is_(run.code, 1, "the gate's exit code", run)
is_(len(run.found), 3, "three findings", run)
rows = {result["ruleId"]: result for result in results(run.sarif)}
one = rows["python.dynamic-code"]
is_(one["level"], "error", "a level")
place = one["locations"][0]["physicalLocation"]
is_(place["artifactLocation"]["uri"], "src/a%20b.py", "a uri is encoded")
is_({k: v for k, v in place["region"].items() if k != "snippet"}, {"startLine": 2, "startColumn": 1, "endLine": 2, "endColumn": 8}, "a region, its end behind it")
is_(place["region"]["snippet"]["text"], "eval(x)", "a snippet")
is_(one["properties"]["pinfold/detail"], "eval", "what was found")
ok("\\xff" in rows["python.process"]["locations"][0]["physicalLocation"]["region"]["snippet"]["text"], "bytes that are no text are written as such")
ok(b"\x1b" not in run.out and b"\xff" not in run.out, "nothing in it could drive a terminal")
driver = run.sarif["runs"][0]["tool"]["driver"]
is_((driver["name"], sorted(rule["id"] for rule in driver["rules"])), ("pinfold", sorted(rows)), "the rules that were found, once each")

# The checker does see what is wrong.
for name, change in (
        ("another version", lambda d: d.update(version="2.0.0")), ("no tool", lambda d: d["runs"][0].pop("tool")),
        ("a result without a message", lambda d: d["runs"][0]["results"][0].pop("message")),
        ("a level that is none", lambda d: d["runs"][0]["results"][0].update(level="fatal")),
        ("a line 0", lambda d: d["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"].update(startLine=0)),
        ("an end in front of the beginning", lambda d: d["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"].update(endLine=1)),
        ("a blank in a uri", lambda d: d["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"].update(uri="a b")),
        ("an index of no rule", lambda d: d["runs"][0]["results"][0].update(ruleIndex=99)),
        ("a version that is no text", lambda d: d["runs"][0]["tool"]["driver"].update(version=1)),
        ("a success that is no truth value", lambda d: d["runs"][0]["invocations"][0].update(executionSuccessful="yes")),
        ("a truth value for a line", lambda d: d["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"].update(startLine=True)),
        ("rules that are no array", lambda d: d["runs"][0]["tool"]["driver"].update(rules={})),
        ("a rule that is no object", lambda d: d["runs"][0]["tool"]["driver"].update(rules=["x"])),
        ("a rule twice", lambda d: d["runs"][0]["tool"]["driver"]["rules"].append(d["runs"][0]["tool"]["driver"]["rules"][0])),
        ("a rule's level that is none", lambda d: d["runs"][0]["tool"]["driver"]["rules"][0]["defaultConfiguration"].update(level="high")),
        ("a bag that is no object", lambda d: d["runs"][0]["results"][0].update(properties=[])),
        ("a reason that is no text", lambda d: d["runs"][0]["results"][0].update(suppressions=[{"kind": "external", "justification": 7}])),
        ("a suppression of no kind", lambda d: d["runs"][0]["results"][0].update(suppressions=[{"kind": "mine"}])),
        ("another rule's index", lambda d: d["runs"][0]["results"][0].update(ruleIndex=1 - d["runs"][0]["results"][0]["ruleIndex"])),
        ("a property of nobody's", lambda d: d["runs"][0]["results"][0].update(colour="red"))):
    document = copy.deepcopy(run.sarif)
    change(document)
    ok(complaints(document), f"control: the checker finds {name}")

# ---- another analyser's ----


def log(*rows, **more):
    driver = {"name": "other", "rules": [{"id": "R1", "defaultConfiguration": {"level": "error"}, "messageStrings": {"m": {"text": "by its name"}}}]}
    return {"version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": list(rows), **more}]}


def merged(document, *options, raw=None):
    folder = tmpdir()
    path = os.path.join(folder, "log.sarif")
    with open(path, "wb") as file:
        file.write(raw if raw is not None else json.dumps(document).encode())
    return scan({"a.py": b"print(1)\n"}, "--merge", path, *options)


PLACE = [{"physicalLocation": {"artifactLocation": {"uri": "./src/a%20b.c"}, "region": {"startLine": 7, "startColumn": 3}}}]
run = merged(log({"ruleId": "R1", "message": {"text": "bad"}, "locations": PLACE}))
is_((run.code, run.found), (1, [("src/a%20b.c", 7, "R1")]), "a finding of another analyser counts: its level is the rule's", run)
is_([one["tool"]["driver"]["name"] for one in run.sarif["runs"]], ["pinfold", "other"], "under its own name")
for what, row, level in (
        ("a level of its own", {"ruleId": "R1", "level": "note", "message": {"text": "x"}}, "note"),
        ("no level, no rule", {"ruleId": "R9", "message": {"text": "x"}}, "warning"),
        ("a rule by its index", {"ruleIndex": 0, "message": {"id": "m"}}, "error"),
        # Whoever wrote the code may have written that.
        ("a suppression in the source", {"ruleId": "R1", "message": {"text": "x"}, "suppressions": [{"kind": "inSource"}]}, "error")):
    run = merged(log(row))
    is_([result["level"] for result in results(run.sarif)], [level], f"{what}: {level}", run)
is_(results(merged(log({"ruleIndex": 0, "message": {"id": "m"}})).sarif)[0]["message"]["text"], "by its name", "a message by its name")
for what, row in ("a level of none", {"ruleId": "R1", "level": "none", "message": {"text": "x"}}), ("what passed", {"ruleId": "R1", "kind": "pass", "message": {"text": "x"}}):
    is_(merged(log(row)).found, [], f"{what} is no finding")
is_(merged(scan(FILES).sarif).code, 1, "its own logs are read as well")

for what, raw in (("no JSON", b"{"), ("no object", b"[]"), ("another version", b'{"version": "2.0", "runs": []}'), ("no runs", b'{"version": "2.1.0"}'),
                  ("a run that did not look", b'{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x"}}}]}'),
                  ("a key twice", b'{"version": "2.1.0", "version": "2.1.0", "runs": []}'), ("deep", b"[" * 5000)):
    run = merged(None, raw=raw)
    is_((run.code, [row[2] for row in run.found]), (1, ["scan.crashed"]), f"{what}: nobody looked, which the gate sees", run)
missing = scan({"a.py": b""}, "--merge", os.path.join(tmpdir(), "none"))
is_(missing.code, 125, "a log that is not there is a failure", missing)
# Rules that extensions have, as CodeQL's; ids of more components than the rule's; levels that are none.
WORST = {"id": "X", "defaultConfiguration": {"level": "error"}}
EXTENDED = {"driver": {"name": "other", "rules": [{"id": "X/none"}]}, "extensions": [{"name": "one", "rules": []}, {"name": "two", "rules": [{"id": "Y"}, WORST]}]}
for what, row in (("by the extension's number", {"rule": {"index": 1, "toolComponent": {"index": 1}}}), ("by number, and that of the rule beside", {"ruleIndex": 1, "ruleId": "X", "rule": {"toolComponent": {"index": 1}}}),
                  ("by the extension's name", {"rule": {"id": "X", "toolComponent": {"name": "two"}}}), ("by id alone", {"ruleId": "X"}), ("by an id behind the rule's", {"ruleId": "X/a/b"}),
                  ("a level that is no text", {"ruleId": "Y", "level": 5}), ("an empty level", {"ruleId": "Y", "level": ""})):
    run = merged({"version": "2.1.0", "runs": [{"tool": EXTENDED, "results": [{"message": {"text": "bad"}, **row}]}]})
    is_((run.code, [one["level"] for one in results(run.sarif)]), (1, ["error"]), f"{what}: an error", run)
OVERRIDES = [{"executionSuccessful": True, "ruleConfigurationOverrides": [{"descriptor": {"id": "Y"}, "configuration": {"level": "error"}}]}]
for what, row, level in ("a rule that was made an error", {"ruleId": "Y"}, "error"), ("another rule", {"ruleId": "Z"}, "warning"), ("a level of the result's own", {"ruleId": "Y", "level": "note"}, "note"):
    run = merged({"version": "2.1.0", "runs": [{"tool": EXTENDED, "invocations": OVERRIDES, "results": [{"message": {"text": "bad"}, **row}]}]})
    is_([one["level"] for one in results(run.sarif)], [level], f"{what}: {level}", run)
done()
