#!/usr/bin/python3
"""The subcommands beside run: what they cannot print they say on stderr, words too many are refused, each has its --help; and
doctor names for every row that is not enforced the reason, what is not covered and the way out."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

COMMANDS = ["run", "explain", "doctor", "image", "job", "scan", "ps", "kill", "gc", "audit", "report", "completion", "version", "help"]
listed = pinfold("help")
ok(all(f"\n  {name} ".encode() in listed.out for name in COMMANDS), "help lists them", listed)
for name in COMMANDS:
    run = pinfold(name, "--help", result=False)
    ok(run.code == 0 and run.out.startswith(f"Usage: pinfold {name}".encode()) and not run.err, f"{name} --help tells its usage", run)
    is_((pinfold("help", name).out, pinfold(name, "-h", result=False).out), (run.out, run.out), f"help {name} and {name} -h are the same")
like(pinfold("doctor", "--help").out, rb"\[--json\] \[IMAGE\]", "doctor's has all its words")

for words in ["version", "x"], ["--version", "x"], ["completion", "bash"], ["completion", "--x"], ["help", "frob"], ["help", "run", "x"], \
        ["--help", "frob"], ["doctor", tiny(), "extra"], ["doctor", "--frob"], ["ps", "x"], ["gc", "x"], ["kill"], ["frob"]:
    run = pinfold(*words)
    is_((run.code, run.out), (125, b""), f"{' '.join(words[:1] + words[-1:])}: refused", run)
    ok(run.err.startswith(b"pinfold: ") and words[-1].encode() in run.err, "and the word is named", run)

for words, meant in (["rn"], "run"), (["exlpain"], "explain"), (["help", "imgae"], "image"), (["image", "lsit"], "list"), (["job", "chekc"], "check"):
    run = pinfold(*words)
    ok(run.code == 125 and run.err.endswith(f"did you mean {meant}?\n".encode()), f"{' '.join(words)}: what was probably meant", run)
for words in ["frobnicate"], ["image", "frobnicate"], ["job", "frobnicate"]:
    like(pinfold(*words).err, rb"^pinfold: (\w+: )?frobnicate: no such (command|verb); `pinfold (help|\w+ --help)` lists them\n$", f"{' '.join(words)}: nothing is near")
for words, said in (["audit", "--since"], "--since: a value is missing"), (["ps", "--json", "x"], '"x"'), \
        (["image", "list", "--json", "--names"], "two forms"), (["gc", "--cgroup-parent=/none"], "/none"):
    run = pinfold(*words)
    ok(run.code == 125 and said in run.err.decode(), f"{' '.join(words)}: {said}", run)
run = pinfold("run", "--slots", "1", tiny(), "/bin/payload", env={"XDG_RUNTIME_DIR": "/dev/null"} if WHO == "user" else {}, result=False)
unlike(run.err.decode(), r"in slots: slots:", "a stage is named once")

with open("/dev/full", "wb") as full:
    for words in ["help"], ["version"], ["completion"], ["gc"], ["ps", "--json"], ["run", "--help"], ["help", "run"], ["explain", "--help"], \
            ["explain", tiny(), "true"], ["doctor", "--json"], ["doctor"]:
        run = pinfold(*words, stdout=full, result=False)
        is_(run.code, 125, f"{' '.join(words[:2])} on a full disk is no success", run)
        like(run.err.decode(), r"write to stdout: (No space left on device|not all)", "and says so")

run = pinfold("doctor", "--json")
document = json.loads(run.out)
is_((document["schema"], document["possible"]), ("pinfold.doctor/1", True), "doctor runs a sandbox", run)
rows = document["guarantees"]
is_([r["name"] for r in rows if r["state"] == "enforced" and (r["not_covered"] or r["mend"] or not r["by"])], [],
    "an enforced row has a mechanism and nothing to mend")
is_([r["name"] for r in rows if r["state"] != "enforced" and not (r["not_covered"] and r["mend"])], [],
    "any other says what is not covered, and what mends it")
by_name = {r["name"]: r for r in rows}
for name in "memory", "io", "cpu-time":
    row = by_name[name]
    ok(row["state"] == "enforced" or row["why"] and row["why"] != row["not_covered"], f"{name}: why is told apart", row)
unlike(by_name["cpu-time"]["mend"], r"kernel command line", "cpu.stat needs a cgroup and no controller")
people = pinfold("doctor")
ok(all(row["mend"].encode() in people.out for row in rows), "people read the same", people)
done()
