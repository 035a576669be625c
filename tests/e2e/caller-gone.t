#!/usr/bin/python3
"""A run does not outlive whoever asked for it: the caller's end, or the end of whoever reads the output, ends it, with
a result that says so. The end of a thread of the caller is not the end of the caller."""
import os
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from host import processes
from pf import *
import pf

MARK = f"caller-{os.getpid()}"
args = ["--env", f"MARK={MARK}", tiny(), "/bin/payload"]

# A shell in between, which ends when its stdin does.
result = os.path.join(tmpdir(), "result.json")
script = '"$@" & read -r line'
shell = subprocess.Popen(["/bin/sh", "-c", script, "sh", program_path(), "run", "--result", result, *args,
                          "ignore", "15", "1", "2", ",", "sleep", "600"],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd="/",
                         **pf._credentials(WHO))
is_(shell.stdout.readline(), b"ignoring\n", "it runs, below a shell")
shell.stdin.close()
shell.wait()
is_(shell.stdout.read(), b"", "the shell ends, and so does pinfold")
shell.stdout.close()
wait_for(lambda: os.path.exists(result), what="the result")
with open(result, "rb") as file:
    document = pf.parse(file.read(), "result")
is_((document["status"], document["cause"]["evidence"].get("caller")), ("cancelled", "exited"), "the caller's end: cancelled",
    str(document))
wait_for(lambda: not processes(MARK), what="the end of everything")

# Whoever reads the output goes away.
for stream, verb in ("stdout", ["tick", "100000", "0.01"]), ("stderr", ["spam", "stderr", "100M"]):
    with start("run", "--output", "none", *args, *verb) as running:
        pipe = getattr(running.process, stream)
        os.read(pipe.fileno(), 1)
        pipe.close()
        setattr(running.process, stream, None)
        run = running.wait()
    is_((run.status, run.evidence.get("lost")), ("cancelled", f"{stream}: EPIPE"), f"nobody reads {stream}: cancelled", run)
    ok(run.code not in (0, 124, 125), f"nobody reads {stream}: no success", run)

# Without a byte to write the hang-up alone must do.
with start("run", *args, "echo", "ready", ",", "sleep", "600") as running:
    running.line()
    running.process.stdout.close()
    running.process.stdout = None
    run = running.wait()
is_((run.status, run.evidence.get("lost")), ("cancelled", "stdout: EPIPE"), "a silent program: the same", run)

with open("/dev/full", "wb") as full:
    run = pinfold("run", *args, "spam", "stdout", "100K", stdout=full)
is_((run.status, run.code, run.evidence.get("lost")), ("lost", 125, "stdout: ENOSPC"), "a full disk is no reader that went away: lost", run)

# A thread starts it and ends.
runs = []
thread = threading.Thread(target=lambda: runs.append(start("run", *args, "echo", "ready", ",", "await", "10", ",", "exit", "5")))
thread.start()
thread.join()
with runs[0] as running:
    is_([running.line(), running.line()], ["ready", "waiting"], "started by a thread that has ended, it runs")
    running.signal(10)
    run = running.wait()
is_((run.status, run.code), ("exited", 5), "and ends by itself", run)
is_(processes(MARK), [], "nothing stays")
done()
