#!/usr/bin/python3
"""A reader that was taken over by what it read reaches nothing, cannot make the scanner believe what cannot be, and cannot end the scan."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *
from scans import *

HOSTILE = staged(os.path.join(BUILD, "tests/scan/hostile"))
staged(os.path.join(BUILD, "share"))
REACH = ["file", "write", "proc", "socket", "signal", "fork", "memory", "program"]
LIES = ["rule", "kind", "text", "inner", "caret", "foreign", "language", "flood"]

# ---- outside of the jail all of it works ----

folder = tmpdir()
with start(program=HOSTILE, env={"HOSTILE_OUTSIDE": folder}) as running:
    control = running.wait()
is_(control.out.decode().split("\n")[:-1], [f"{what} reached" for what in REACH], "control: outside of the jail each attempt gets through", control)
ok(os.path.exists(os.path.join(folder, "planted")), "control: a file was written")


def hostile(names, *options):
    where = tree({name: b"1\n" for name in names})
    with start(*options, where, program=HOSTILE) as running:
        return running.wait()


def says(run, name):
    return [line.split(": ", 1)[1] for line in run.out.decode().split("\n") if line.startswith(name + ":")]


# ---- inside ----

for what, outcome in ("file", "ENOENT"), ("write", "EROFS"), ("proc", "ENOENT"), ("fork", "EPERM"), ("memory", "ENOMEM"):
    run = hostile([f"reach-{what}.py"])
    is_(says(run, f"reach-{what}.py"), [f"warning binary.elf: machine code: {what} {outcome}"], f"{what}: {outcome}", run)
for what in ("socket", "signal", "program"):
    run = hostile([f"reach-{what}.py"])
    like("".join(says(run, f"reach-{what}.py")).encode(), rb"^error scan.crashed: .*ended by its filter", f"{what}: its filter ends it")
ok(not os.path.exists("/planted"), "nothing was planted")

for what in LIES:
    run = hostile([f"lie-{what}.py", "z.py"])
    is_((run.code, says(run, f"lie-{what}.py")), (1, ["error scan.crashed: reading it ended the reader: its records are wrong"]), f"a lie about {what} is told as one, and nothing else that it said", run)
    is_(len(says(run, "z.py")), 1, f"a lie about {what}: the next file is read", run)
run = hostile(["die.py", "spin.py", "z.py"], "--limit-time", "200ms")
like("".join(says(run, "die.py")).encode(), rb"^error scan.crashed: .*signal 11", "a crash is a finding")
is_(says(run, "spin.py"), ["error scan.timeout: reading it took too long"], "a reader without an end is ended, which is a finding")
is_(says(run, "z.py"), ["warning binary.elf: machine code: \\x1b[31mhonest\\x0a"], "the scan goes on; what a reader says is escaped")
is_(run.code, 1, "the gate stops it")
run = hostile([f"die{i:02}.py" for i in range(30)] + ["z.py"])
is_((run.code, run.out.count(b"error scan.crashed"), b"the rest was not looked at" in run.out), (1, 20, True), "after 20 of them it gives up, says so, and the gate stops it", run)
# ---- when the scanner is gone ----

with start("--limit-time", "300s", tree({"spin.py": b""}), program=HOSTILE) as running:
    def readers():
        try:
            with open(f"/proc/{running.pid}/task/{running.pid}/children") as file:
                return file.read().split()
        except FileNotFoundError:
            return []
    wait_for(readers, what="a reader at work")
    reader = readers()[0]
    running.process.kill()
    running.process.wait()
    wait_for(lambda: not os.path.exists(f"/proc/{reader}"), 60, "the end of its reader")
    ok(True, "a reader does not outlive a scanner that was killed")
done()
