#!/usr/bin/python3
"""Output that nobody takes holds pinfold up as long as the wall limit would have, and no longer than the grace once it is told to
stop or has lost its caller; what was not delivered is said."""
import fcntl
import os
import re
import select
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *
import pf

BYTES = 150000  # more than the caller's pipe and our buffer hold, less than with the program's pipe: it can end
program = [tiny(), "/bin/payload", "spam", "stdout", str(BYTES)]


def draining(events_file):
    """The program has ended, and pinfold waits for the reader."""
    wait_for(lambda: os.path.exists(events_file) and b'"drain"' in read(events_file), what="the end of the sandbox")


def read(path):
    with open(path, "rb") as file:
        return file.read()


def full_pipe():
    ends = os.pipe()
    os.set_blocking(ends[1], False)
    try:
        while True:
            os.write(ends[1], bytes(4096))
    except BlockingIOError:
        os.set_blocking(ends[1], True)
    return ends


def taken(pid):
    """Bytes that pinfold has read so far, of everything."""
    return int(re.search(rb"rchar: (\d+)", read(f"/proc/{pid}/io"))[1])


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
        return file.read().split()


def undelivered(run, name):
    ok(run.result["output"]["stdout"]["truncated"], f"{name}: truncated", run)
    like("\n".join(run.result["warnings"]), r"stdout: the last bytes were not delivered", f"{name}: and said so")


for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    with start("run", "--wall", "none", "--grace", "200ms", *program, events=True) as running:
        draining(running.events_file)
        running.signal(number)
        running.process.wait(60)  # without reading
        run = running.wait()
    is_((run.status, run.result["ok"]), ("cancelled", False), f"{number.name} while the output waits: cancelled", run)
    is_(run.evidence["signal"], number.name[3:], f"{number.name}: the evidence names it")
    undelivered(run, number.name)

# Without a grace: what is there is passed on, and nothing that never was is told as lost.
told = set()
for turn in range(12):  # which end is heard of first is a matter of luck
    with start("run", "--wall", "none", "--grace", "0s", tiny(), "/bin/payload", "await", "10") as running:
        running.line()
        running.signal(signal.SIGTERM)
        run = running.wait()
    told.add((run.status, *(w for w in run.result["warnings"] if "delivered" in w), *(run.result["output"][name]["truncated"] for name in ("stdout", "stderr"))))
is_(told, {("cancelled", False, False)}, "a grace of 0 and nothing left: nothing is told as lost, nor truncated", run)
# The pipe is full when pinfold is told to stop, and all of it is still wanted: pinfold itself stands still until it is, and
# until all of the run is dead, so that the first round sees the signal, the end and the full pipe at once.


def blocked(parent):
    """Whether a program below parent waits for a pipe to be read."""
    pids = [parent]
    for pid in pids:
        try:
            with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
                pids += [int(child) for child in file.read().split()]
            with open(f"/proc/{pid}/comm", encoding="ascii") as file:
                name = file.read().strip()
            with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                fields = file.read().rsplit(") ", 1)[1].split()
        except OSError:
            continue
        if name == "yes":
            before = ticks.get(pid)
            ticks[pid] = (fields[11], fields[12])
            return fields[0] == "S" and before == ticks[pid]
    return False


def all_dead(parent):
    """Whether what a parent that stands still has started is dead, and waits to be reaped."""
    for child in children(parent):
        with open(f"/proc/{child}/stat", encoding="ascii") as file:
            if file.read().rsplit(") ", 1)[1][0] != "Z":
                return False
    return True


lost = []
for turn in range(4):
    ticks = {}
    kept_in = os.path.join(tmpdir(), "out")
    with start("run", "--wall", "none", "--grace", "0s", "--output", "none", "--stdout", kept_in, "@host", "yes") as running:
        wait_for(lambda: os.path.exists(kept_in) and os.path.getsize(kept_in) > 0, what="output")
        running.process.send_signal(signal.SIGSTOP)
        wait_for(lambda: blocked(running.pid), what="a full pipe")
        size = os.path.getsize(kept_in)
        running.signal(signal.SIGTERM)
        for child in children(running.pid):
            os.kill(int(child), signal.SIGKILL)
        wait_for(lambda: all_dead(running.pid), 20, "the end of the run")
        running.process.send_signal(signal.SIGCONT)
        run = running.wait()
    got = os.path.getsize(kept_in)
    row = run.result["output"]["stdout"]
    lost += [w for w in run.result["warnings"] if "delivered" in w]
    if got < size + 32768 or row["bytes"] != got or row["truncated"]:
        lost.append((size, got, row))
is_(lost, [], "a grace of 0 and a full pipe that somebody takes: all of it is passed on", run)
with start("run", "--wall", "none", "--grace", "0s", *program, events=True) as running:
    draining(running.events_file)
    running.signal(signal.SIGTERM)
    running.process.wait(60)
    run = running.wait()
is_(run.status, "cancelled", "a grace of 0 and a full pipe: what nobody takes is not waited for", run)
undelivered(run, "a grace of 0")

# pinfold kill is the same.
mark = f"slow-{os.getpid()}"
with start("run", "--wall", "none", "--grace", "200ms", "--id", mark, *program, events=True) as running:
    draining(running.events_file)
    done_ = pinfold("kill", mark)
    is_(done_.code, 0, "pinfold kill of a run whose output waits", done_)
    running.process.wait(60)
    run = running.wait()
is_(run.status, "cancelled", "it ends", run)

# The wall limit.
with start("run", "--wall", "5s", "--grace", "100ms", *program, events=True) as running:
    running.process.wait(60)
    run = running.wait()
is_((run.status, run.code), ("exited", 0), "nobody reads until the wall limit: the program's own end counts", run)
undelivered(run, "the wall limit")

# Ended by a signal or a limit, with the reader's pipe full: the grace, and no wall limit, is what the output has.
for name, options, words, number, status in (
        ("TERM", ["--wall", "none", "--output", "none"], ["spam", "stdout", "100000000"], signal.SIGTERM, "cancelled"),
        ("the cpu limit", ["--wall", "none", "--cpu-time", "100ms"], ["spam", "stdout", str(BYTES), ",", "burn", "60"], None, "cpu-timeout"),
        ("the idle limit", ["--wall", "none", "--idle", "2s"], ["spam", "stdout", str(BYTES), ",", "sleep", "600"], None, "idle-timeout"),
        ("the output limit", ["--wall", "none", "--output", "120000"], ["spam", "stdout", str(BYTES), ",", "sleep", "600"], None,
         "output-limit")):
    with start("run", *options, "--grace", "200ms", tiny(), "/bin/payload", *words) as running:
        if number:
            wait_for(lambda: taken(running.pid) > 120000, what="more than the caller's pipe holds")
            running.signal(number)
        running.process.wait(60)  # without reading
        run = running.wait()
    is_(run.status, status, f"{name} while nobody reads: it ends", run)
    ok(run.result["output"]["stdout"]["truncated"], f"{name}: truncated", run)

# The events' reader is slow, and pinfold is told to stop: the grace may be long.
read_end, write_end = full_pipe()
with start("run", "--events", f"fd:{write_end}", "--grace", "1000s", tiny(), "/bin/payload", "echo", "ran", ",", "exit", "3",
           pass_fds=[write_end]) as running:
    running.line()
    wait_for(lambda: not children(running.pid), what="the end of the sandbox")
    running.signal(signal.SIGTERM)
    running.process.wait(60)
    run = running.wait()
is_((run.status, run.code), ("exited", 3), "the run had ended: that counts", run)
like("\n".join(run.result["warnings"]), r"events", "and that events were lost is said")
os.close(read_end)
os.close(write_end)

# Whoever reads late gets all of it.
with start("run", "--wall", "none", *program, events=True) as running:
    draining(running.events_file)
    run = running.wait()
is_((run.status, run.code, len(run.out)), ("exited", 0, BYTES), "a late reader gets every byte", run.status)
is_((run.result["warnings"], run.result["output"]["stdout"]["truncated"]), ([], False), "and there is nothing to say")

# Our own words, and the document: whoever does not read them is waited for, but not for ever.
for words in (["--nonsense", *program], ["--spec", "/nothing"], ["/nowhere", "/bin/payload"], [tiny(), "/bin/payload", "exit", "3"]):
    read_end, write_end = full_pipe()
    run = pinfold("run", *words, stderr=write_end)
    is_((run.code, run.status is not None), (3 if words[-1] == "3" else 125, True), f"{words[0]}: nobody reads stderr: it ends, with a result", run)
    os.close(read_end)
    os.close(write_end)
read_end, write_end = full_pipe()
run = pinfold("run", "--result", f"fd:{write_end}", *program[:2], "exit", "0", pass_fds=[write_end], result=False)
is_(run.code, 125, "nobody takes the result from a pipe: our failure", run)
like(run.err.decode(), r"write the result to fd:\d+: .*timed out", "and said so")
os.close(read_end)
os.close(write_end)

# A pipe of a page that does not block its writer, and a reader that comes late.
read_end, write_end = os.pipe()
fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, 4096)
os.set_blocking(write_end, False)
with start("run", "--result", f"fd:{write_end}", *program[:2], "exit", "0", pass_fds=[write_end], result=False) as running:
    os.close(write_end)
    select.select([read_end], [], [], 60)
    with open(read_end, "rb") as file:
        document = pf.parse(file.read(), "result")
    run = running.wait()
is_((document["status"], run.code), ("exited", 0), "a document larger than the pipe arrives whole", run)

# The caller is gone, the reader is not: a shell that starts it and ends.
read_end, write_end = os.pipe()
folder = tmpdir()
result = os.path.join(folder, "result.json")
events = os.path.join(folder, "events.jsonl")
argv = [program_path(), "run", "--result", result, "--events", events, "--wall", "none", "--grace", "200ms", *program]
shell = subprocess.Popen(["/bin/sh", "-c", '"$@" & read line', "sh", *argv], stdin=subprocess.PIPE, stdout=write_end,
                         stderr=subprocess.DEVNULL, cwd="/", env=pf._environment(WHO), **pf._credentials(WHO))
os.close(write_end)
draining(events)
shell.stdin.close()
shell.wait()
wait_for(lambda: os.path.exists(result), what="the result")
document = pf.parse(read(result), "result")
is_((document["status"], document["cause"]["evidence"].get("caller")), ("cancelled", "exited"), "the caller ends while the output waits: cancelled",
    str(document["cause"]))
os.close(read_end)
done()
