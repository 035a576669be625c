#!/usr/bin/python3
"""--require NAME starts nothing where that guarantee is not enforced in full, and says which it is and what would mend it;
a limit that nothing can enforce is refused without being asked."""
import json
import os
import resource
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

plain = pinfold("run", tiny(), "/bin/payload", "exit", "3")
states = {row["name"]: row for row in plain.result["guarantees"]}
enforced = [name for name, row in states.items() if row["state"] == "enforced"]
degraded = [name for name, row in states.items() if row["state"] != "enforced"]
diag(f"enforced: {' '.join(enforced)}; degraded: {' '.join(degraded)}")

run = pinfold("run", "--require", ",".join(enforced), tiny(), "/bin/payload", "exit", "3")
is_((run.status, run.code), ("exited", 3), "what is enforced can be required", run)
for name in degraded:
    run = pinfold("run", "--require", name, tiny(), "/bin/payload", "echo", "ran")
    is_((run.status, run.code, run.out), ("refused", 125, b""), f"--require {name}: refused", run)
    like(run.message, rf"--require {name}: it is {states[name]['state']} here", f"{name}: named")
    like(run.message, r"not covered: \S", f"{name}: what is not covered")
    is_(run.guarantee(name)["state"], states[name]["state"], f"{name}: the ledger stands in the result")

for group, members in ("cgroup", ("memory", "swap", "pids", "cpus", "io", "cpu-time", "kill")), ("all", tuple(states)):
    run = pinfold("run", "--require", group, tiny(), "/bin/payload", "exit", "3")
    lacking = [name for name in members if name in degraded]
    if lacking:
        is_((run.status, run.code), ("refused", 125), f"--require {group}: refused, for {lacking[0]}", run)
        like(run.message, rf"--require {lacking[0]}", "the first of it is named")
    else:
        is_((run.status, run.code), ("exited", 3), f"--require {group}: all of it is enforced", run)

run = pinfold("run", "--require", "wall", "--require", "scratch", tiny(), "/bin/payload", "exit", "3")
is_(run.code, 3, "--require may be repeated", run)
run = pinfold("run", "--require", "wal", tiny(), "/bin/payload", "exit", "3")
is_((run.status, run.code), ("refused", 125), "an unknown name is refused", run)

# A limit of 0 stops a core file, and not a core_pattern that is a pipe, which starts its handler on the host.
def core(soft, hard):
    return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))}


run = pinfold("run", tiny(), "/bin/payload", "rlimits", **core(0, 0))
inside = run.out.decode().split("\ncore ")[1].split()[0]
row = run.guarantee("core")
is_((row["value"], row["state"]), (inside, "enforced" if inside == "1" else "degraded"), "core: the ledger says what holds inside", str(row))
if inside == "0":
    ok(any("core_pattern" in text for text in row["not_covered"]), "core: what is not covered", str(row))
    run = pinfold("run", "--require", "core", tiny(), "/bin/payload", "echo", "ran", **core(0, 0))
    is_((run.status, run.code, run.out), ("refused", 125, b""), "--require core: refused", run)
    like(run.message, r"ulimit -Hc", "with the way out")
run = pinfold("run", "--require", "core", tiny(), "/bin/payload", "rlimits", **core(0, 1))
like(run.out.decode(), r"^core 1 1$", "core: a soft limit of 0 is raised")

for option in ("--read-bps", "--write-bps", "--read-iops", "--write-iops"):
    if "io" in controllers():  # tests/vm has what they do then
        break
    run = pinfold("run", option, "1000000", tiny(), "/bin/payload", "exit", "3")
    is_((run.status, run.code), ("refused", 125), f"{option} without the io controller: refused", run)
    like(run.message, r"io controller", f"{option}: the controller is named")

if degraded:
    said = [line for line in plain.err.decode().splitlines() if "degraded here" in line]
    is_(len(said), 1, "a run that takes less says so once on stderr", plain)
    plain_said = said[0]
    ok(all(name in said[0] for name in degraded), "with every name", plain)
    first, rest = degraded[0], degraded[1:]
    run = pinfold("run", "--accept", first, tiny(), "/bin/payload", "exit", "3")
    said = [line for line in run.err.decode().splitlines() if "degraded here" in line]
    is_(said, [plain_said.replace(f"{first}, ", "", 1)] if rest else [], "what is accepted is not mentioned, and all else is", run)
    is_((run.guarantee(first)["state"], run.code), ("degraded", 3), "the result says it as ever")
    is_(pinfold("run", "--accept", ",".join(degraded), tiny(), "/bin/payload", "exit", "3").err, b"", "nor all of it")
    folder = tmpdir()
    os.mkdir(os.path.join(folder, "pinfold"))
    for name, document in ("pinfold/config.json", {"defaults": {"accept": degraded}}), \
            ("job.json", {"stages": [{"name": "a", "image": "@host", "command": ["true"]}, {"name": "b", "image": "@host", "command": ["true"], "accept": ["all"]}]}), \
            ("quiet.json", {"stages": [{"name": "a", "image": "@host", "command": ["true"], "accept": ["all"]}]}):
        with open(os.path.join(folder, name), "w") as file:
            json.dump(document, file)
    run = pinfold("run", tiny(), "/bin/payload", "exit", "3", env={"XDG_CONFIG_HOME": folder})
    is_((run.code, run.err), (3, b""), "a configuration file's place for it", run)
    run = pinfold("run", "--require", first, tiny(), "/bin/payload", "exit", "3", env={"XDG_CONFIG_HOME": folder})
    is_((run.status, run.code), ("refused", 125), "what is accepted and required is required", run)
    env = {"PINFOLD_STORE": os.path.join(folder, "store"), "XDG_CONFIG_HOME": "/nowhere"}
    for name, times in (("job.json", 1), ("quiet.json", 0)):
        run = pinfold("job", "run", os.path.join(folder, name), env=env)
        is_((run.code, run.err.count(b"degraded here")), (0, times), f"{name}: a job mentions what a stage did not accept", run)
    run = pinfold("job", "run", "--build-image", "@host", "--run-image", "@host", "--lang", "python", os.path.join(folder, "none.py"), env=env)
    ok(run.code == 1 and b"none.py" in run.err and b"degraded here" not in run.err, "where nothing was started nothing is degraded", run)
    people = pinfold("doctor", env={"XDG_CONFIG_HOME": "/nowhere"}).out.decode()
    named = people.partition('{"defaults": {"accept": ["')[2].partition('"]}}')[0].split(",")
    ok(set(degraded) <= set(named), "doctor has the names to accept", people[-400:])
    with open(os.path.join(folder, "pinfold/config.json"), "w") as file:
        json.dump({"defaults": {"accept": named}}, file)
    people = pinfold("doctor", env={"XDG_CONFIG_HOME": folder}).out.decode()
    ok("told at each run" not in people, "and does not repeat them to who has", people[-400:])
run = pinfold("run", "--accept", "wal", tiny(), "/bin/payload", "exit", "3")
is_((run.status, run.code), ("refused", 125), "an unknown name cannot be accepted", run)
done()
