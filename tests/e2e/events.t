#!/usr/bin/python3
"""--events streams one JSON document a line while the run goes on, each valid, in order, the result last; a reader that is
slow or goes away harms nothing."""
import fcntl
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *
import pf

payload = [tiny(), "/bin/payload"]
MOUNT = {"x86_64": 165, "aarch64": 40}[os.uname().machine]


def kinds(run):
    return [event["event"] for event in run.events]


run = pinfold("run", "--id", "events-test", *payload, "exit", "3", events=True)
ok("started" in kinds(run) and kinds(run)[-1] == "ended", "started, and ended at the end", str(kinds(run)))
is_([e["id"] for e in run.events if e["id"] != "events-test"], [], "each has the id")
times = [e["at_usec"] for e in run.events]
is_(times, sorted(times), "in the order of time")
is_(run.events[-1]["result"]["exit"], {"code": 3, "signal": None}, "the last has the result")
is_(run.events[-1]["result"], run.result, "the same that --result has")
stages = [e["name"] for e in run.events if e["event"] == "stage"]
ok(stages, "stages have names", str(stages))

run = pinfold("run", "--wall", "200ms", *payload, "sleep", "600", events=True)
is_([e["name"] for e in run.events if e["event"] == "limit"], ["wall"], "a limit that ends the run", str(kinds(run)))
run = pinfold("run", *payload, "syscall", MOUNT, "0", "0", "0", "0", "0", events=True)
is_([e["name"] for e in run.events if e["event"] == "denied"], ["mount"], "a system call that was denied", str(kinds(run)))
is_(run.result["denied"]["syscalls"], [{"name": "mount", "count": 1}], "and the result counts it")
run = pinfold("run", tiny(), "/bin/nothing", events=True)
ok("started" not in kinds(run) and kinds(run)[-1] == "ended", "what never started does not say so", str(kinds(run)))
run = pinfold("run", *payload, "tick", "30", "0.1", events=True)
usage = [e for e in run.events if e["event"] == "usage"]
ok(len(usage) >= 1, "usage, once a second", str(kinds(run)))
ok(usage and usage[-1]["stdout_bytes"] > 0, "with the bytes so far", str(usage))
run = pinfold("run", "--nonsense", *payload, "exit", "0", events=True)
is_((run.code, run.status), (125, "refused"), "bad usage", run)
spec = os.path.join(tmpdir(), "spec.json")
with open(spec, "w", encoding="ascii") as file:
    file.write('{"memroy": 1}')
BAD = {"an unknown option": ["--memry", "1", *payload], "no image": [], "an id that is none": ["--id", "a/b", *payload],
       "a wrong spec": ["--spec", spec, *payload], "a result that cannot be": ["--result", "/nowhere/r", *payload]}
for name, args in BAD.items():
    run = pinfold("run", *args, events=True, result="--result" not in args)
    is_((run.code, kinds(run)), (125, ["ended"]), f"{name} has an end too", run)
    is_(run.events[0]["result"]["status"] if run.events else None, "refused", f"{name}: refused")
    ok(not run.result or run.events[0]["result"] == run.result, f"{name}: the same that --result has", run)

# As it comes: the first events are there while the program runs.
read_end, write_end = os.pipe()
with start("run", "--events", f"fd:{write_end}", *payload, "await", "10", ",", "fds", pass_fds=[write_end]) as running:
    os.close(write_end)
    with open(read_end, "rb") as file:
        lines = iter(file.readline, b"")
        first = next(e for e in (pf.parse(line, "event") for line in lines) if e["event"] == "started")
        ok(os.path.exists(f"/proc/{first['pid']}"), "started comes while it runs, with the pid of pid 1", str(first))
        running.line()
        running.signal(10)
        rest = [pf.parse(line, "event") for line in lines]
    run = running.wait()
is_(rest[-1]["event"], "ended", "and the end comes at the end")
is_(run.out.count(b"\nfd "), 3, "the program has no descriptor of it", run)

# Refused before anything exists: that is an end too.
run = pinfold("run", "/nowhere", "/bin/payload", "exit", "0", events=True)
is_((run.status, kinds(run)), ("refused", ["ended"]), "a run that is refused ends with an event", run)

# The last event is larger than the pipe: it waits for whoever reads in time.
read_end, write_end = os.pipe()
fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, 4096)
with start("run", "--events", f"fd:{write_end}", "--grace", "50s", *payload, "exit", "3", pass_fds=[write_end]) as running:
    os.close(write_end)
    with open(read_end, "rb") as file:
        lines = iter(file.readline, b"")
        pid = next(e for e in (pf.parse(line, "event") for line in lines) if e["event"] == "started")["pid"]
        while os.path.exists(f"/proc/{pid}"):
            time.sleep(0.01)
        last = list(lines)[-1]
    running.wait()
ok(len(last) > 4096, "the last event is larger than that pipe", str(len(last)))
is_(pf.parse(last, "event")["event"], "ended", "it comes whole to a reader that takes its time")

# Nobody reads: the run goes on, and says what was dropped.
read_end, write_end = os.pipe()
os.set_blocking(write_end, False)
try:
    while True:
        os.write(write_end, bytes(4096))
except BlockingIOError:
    pass
os.set_blocking(write_end, True)
run = pinfold("run", "--events", f"fd:{write_end}", "--grace", "100ms", *payload, "exit", "3", pass_fds=[write_end])
is_((run.status, run.code), ("exited", 3), "a reader that does not read holds nothing up", run)
like(" ".join(run.result["warnings"]), r"events were lost: whoever reads --events", "and the result says that events were lost")
os.close(read_end)
run = pinfold("run", "--events", f"fd:{write_end}", *payload, "exit", "3", pass_fds=[write_end])
is_((run.status, run.code), ("exited", 3), "a reader that went away ends nothing", run)
like(" ".join(run.result["warnings"]), r"events were lost: whoever reads --events went away", "and is told of")
os.close(write_end)
with open("/dev/full", "wb") as full:
    for args in [*payload, "exit", "3"], ["--nonsense"]:
        run = pinfold("run", "--events", f"fd:{full.fileno()}", *args, pass_fds=[full.fileno()])
        like(" ".join(run.result["warnings"]), r"events were lost: No space left on device", f"a full disk is told of ({run.status})")
for where in "/nowhere/events", "fd:77":
    run = pinfold("run", "--events", where, *payload, "echo", "ran")
    is_((run.status, run.code, run.out), ("refused", 125, b""), f"--events {where}: refused", run)
done()
