#!/usr/bin/python3
"""`pinfold ps` lists the living runs of this user, `pinfold kill ID` ends one, `pinfold gc` takes what a killed supervisor left;
none of them needs or leaves a file, and none touches another user's runs."""
import contextlib
import ctypes
import json
import os
import pwd
import signal
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from host import fill, leftovers
from pf import *

PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT, WALL = 17, 0x4206, 0x4207, 0x40000000
MARK = f"listed-{os.getpid()}"
uid = os.geteuid() if WHO == "root" or os.geteuid() else pwd.getpwnam(TEST_ACCOUNT).pw_uid
payload = ["--env", f"MARK={MARK}", tiny(), "/bin/payload"]


def as_user(number, make, stack):
    """What make() returns, made by a process of that user's effective uid."""
    os.seteuid(number)
    try:
        return stack.enter_context(make())
    finally:
        os.seteuid(0)


def listed():
    run = pinfold("ps", "--json")
    return {row["id"]: row for row in json.loads(run.out)}


with start("run", "--id", f"{MARK}-a", *payload, "echo", "ready", ",", "sleep", "600") as first, \
        start("run", "--id", f"{MARK}-b.x_y", *payload, "trap-term", "/scratch/f", "7") as second:
    first.line()
    second.line()
    rows = listed()
    ours = {name: row for name, row in rows.items() if name.startswith(MARK)}
    is_(sorted(ours), [f"{MARK}-a", f"{MARK}-b.x_y"], "ps lists both", str(rows))
    is_([ours[name]["pid"] for name in sorted(ours)], [first.pid, second.pid], "with their supervisors")
    within(ours[f"{MARK}-a"]["age_seconds"], 0, 600, "and their age")
    run = pinfold("ps")
    like(run.out.decode(), rf"^{MARK}-a\s+{first.pid}\s", "ps for people")
    if os.geteuid() == 0:
        other = pinfold("ps", "--json", user="user" if WHO == "root" else "root")
        ok(MARK not in other.out.decode(), "another user does not see them", other)
        other = pinfold("kill", f"{MARK}-a", user="user" if WHO == "root" else "root")
        is_((other.code, first.process.poll()), (125, None), "nor end them", other)
    else:
        skip("needs root", "another user's view")

    # The same name twice at a time.
    run = pinfold("run", "--id", f"{MARK}-a", *payload, "echo", "ran")
    is_((run.status, run.code, run.out), ("refused", 125, b""), "an id that lives is refused", run)
    ok(f"{MARK}-a" in run.message, "by its name", run)
    run = pinfold("kill", f"{MARK}-b.x_y")
    is_(run.code, 0, "kill ends a run", run)
    is_(second.process.poll() is not None, True, "and returns when it has ended")
    run = second.wait()
    is_((run.status, run.result["exit"]["code"], run.evidence.get("signal")), ("cancelled", 7, "TERM"), "which had its grace", run)
    is_([name for name in listed() if name.startswith(MARK)], [f"{MARK}-a"], "the other goes on")
    run = pinfold("kill", f"{MARK}-a", f"{MARK}-none")
    is_(run.code, 125, "a run that is not there is said", run)
    like(run.err.decode(), rf"{MARK}-none: no run", "by its name")
    is_(first.wait().status, "cancelled", "and the one that is there is ended all the same")
is_([name for name in listed() if name.startswith(MARK)], [], "nothing is listed at the end")
run = pinfold("run", "--id", f"{MARK}-a", *payload, "exit", "3")
is_(run.code, 3, "the name is free again", run)

# SV04: what is no name.
for name in "../x", "a/b", "", ".hidden", "-x", "x" * 65, "a b", "a\nb", "ä", b"\xff", "a\x1b":
    run = pinfold("run", "--id=" + name if isinstance(name, str) else b"--id=" + name, *payload, "echo", "ran")
    is_((run.code, run.out), (125, b""), f"--id {name!r}: refused", run)
run = pinfold("run", "--id", (MARK + "x" * 64)[:64], *payload, "exit", "3")
is_(run.code, 3, "64 letters are a name", run)

# Somebody else may hold a name; it is no run of ours.
with socket.socket(socket.AF_UNIX) as fake:
    if WHO == "user" and os.geteuid() == 0:
        fake.bind(f"\0pinfold/{uid}/{MARK}-fake")
        fake.listen()
        ok(f"{MARK}-fake" not in listed(), "a name that another user holds is not listed")
        run = pinfold("kill", f"{MARK}-fake")
        is_(run.code, 125, "nor killed", run)
    else:
        skip("needs an ordinary user", "a name that another user holds")

# A supervisor that is stopped takes no connections once its queue is full: it is listed, and ended, all the same.
with start("run", "--id", f"{MARK}-stopped", *payload, "echo", "ready", ",", "sleep", "600") as stopped, \
        start("run", "--id", f"{MARK}-well", *payload, "echo", "ready", ",", "sleep", "600") as well, contextlib.ExitStack() as stack:
    stopped.line()
    well.line()
    is_(listed()[f"{MARK}-stopped"]["answers"], True, "one that runs answers")
    stopped.signal(signal.SIGSTOP)
    fill(stack, f"\0pinfold/{uid}/{MARK}-stopped")
    rows = listed()
    is_([(rows[f"{MARK}-{name}"]["pid"], rows[f"{MARK}-{name}"]["answers"]) for name in ("stopped", "well")],
        [(stopped.pid, False), (well.pid, True)], "ps lists one that does not answer, and the others", str(rows))
    run = pinfold("ps")
    like(run.out.decode(), rf"^{MARK}-stopped\s+{stopped.pid}\s.*\(does not answer\)", "ps for people")
    run = pinfold("run", "--id", f"{MARK}-stopped", *payload, "echo", "ran")
    is_((run.status, run.out), ("refused", b""), "its id is not free", run)
    like(run.message, rf"alive, uid {uid} \(pid {stopped.pid}\)", "by the pid of the one that has it")
    run = pinfold("kill", f"{MARK}-stopped")
    is_((run.code, stopped.wait().status), (0, "cancelled"), "kill ends it, with a result", run)
    pinfold("kill", f"{MARK}-well")

# What a debugger holds goes on for nobody else.
with start("run", "--id", f"{MARK}-held", *payload, "echo", "ready", ",", "sleep", "600") as held:
    held.line()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(PTRACE_SEIZE, held.pid, None, None) == 0:
        libc.ptrace(PTRACE_INTERRUPT, held.pid, None, None)
        os.waitpid(held.pid, WALL)
        run = pinfold("kill", f"{MARK}-held")
        is_(run.code, 125, "a supervisor that a debugger holds cannot be told to end", run)
        like(run.err.decode(), rf"{MARK}-held: .* stopped, by a debugger", "and kill says so instead of waiting")
        libc.ptrace(PTRACE_DETACH, held.pid, None, None)
        is_(held.wait().status, "cancelled", "it ends when it may go on")
    else:
        skip("needs root or a debugger's rights", "a supervisor that a debugger holds")

# The same by ill will: another user's process with a full queue, whose name looks like lines of /proc/net/unix besides.
if os.geteuid() == 0:
    with contextlib.ExitStack() as stack:
        other = 65534
        fake = as_user(other, lambda: socket.socket(socket.AF_UNIX), stack)
        fake.bind(f"\0pinfold/{uid}/{MARK}-taken")
        fake.listen(0)
        fill(stack, f"\0pinfold/{uid}/{MARK}-taken")
        line = stack.enter_context(socket.socket(socket.AF_UNIX))
        line.bind(f"\0\n0: 00000002 00000000 00010000 0001 01 1 @pinfold/{uid}/{MARK}-taken")
        line.listen()
        with start("run", "--id", f"{MARK}-well", *payload, "echo", "ready", ",", "sleep", "600") as well:
            well.line()
            is_([name for name in listed() if name.startswith(MARK)], [f"{MARK}-well"], "a name that another user blocks is passed over")
            run = pinfold("kill", f"{MARK}-taken", f"{MARK}-well")
            is_(run.code, 125, "kill refuses it", run)
            like(run.err.decode(), rf"{MARK}-taken: no run of yours, but uid {other} ", "and says whose it is")
            is_(well.wait().status, "cancelled", "and ends the other")
        with start("run", "--id", f"{MARK}-taken", *payload, "echo", "ready", ",", "sleep", "600") as ours:
            is_(ours.line(), "ready", "a run of that id is not hindered by it")
            is_(listed().get(f"{MARK}-taken", {}).get("pid"), ours.pid, "ps lists it")
            run = pinfold("run", "--id", f"{MARK}-taken", *payload, "echo", "ran")
            is_((run.status, run.out), ("refused", b""), "a second one of that id is refused all the same", run)
            like(run.message, rf"alive, uid {uid} \(pid {ours.pid}\)", "by the pid of the first")
            fake.close()
            run = pinfold("run", "--id", f"{MARK}-taken", *payload, "echo", "ran")
            is_((run.status, run.out), ("refused", b""), "even when the other has let go of the name", run)
            run = pinfold("kill", f"{MARK}-taken")
            is_((run.code, ours.wait().status), (0, "cancelled"), "kill finds it", run)
        silent = as_user(other, lambda: socket.socket(socket.AF_UNIX), stack)
        silent.bind(f"\0pinfold/{uid}/{MARK}-bound")
        run = pinfold("run", "--id", f"{MARK}-bound", *payload, "exit", "3")
        is_(run.code, 3, "nor by a name that is bound and not listened at", run)
        run = pinfold("gc")
        is_(run.code, 0, "gc", run)
else:
    skip("needs root", "a name that another user blocks")
run = pinfold("kill", "x" * 200)
like(run.err.decode(), r"no run of yours has this id", "a name longer than any is nobody's")

# gc: a killed supervisor leaves at most an empty cgroup.
with start("run", "--id", f"{MARK}-killed", *payload, "echo", "ready", ",", "sleep", "600") as running, \
        start("run", "--id", f"{MARK}-alive", *payload, "await", "10", ",", "exit", "5") as alive:
    running.line()
    alive.line()
    running.signal(signal.SIGKILL)
    running.process.wait()
    wait_for(lambda: not [x for x in leftovers(f"{MARK}-killed") if not x.startswith("cgroup")], what="the end of the killed run")
    run = pinfold("gc")
    is_(run.code, 0, "gc", run)
    like(run.out.decode(), r"^\d+ empty cgroups? removed$", "says how many it took")
    is_(leftovers(f"{MARK}-killed"), [], "nothing of the killed run is left")
    alive.signal(10)
    is_(alive.wait().code, 5, "and the living one goes on")
with start("run", "--id", f"{MARK}-again", *payload, "echo", "ready", ",", "sleep", "600") as running:
    running.line()
    running.signal(signal.SIGKILL)
    running.process.wait()
wait_for(lambda: not [x for x in leftovers(f"{MARK}-again") if not x.startswith("cgroup")], what="the end of the killed run")
run = pinfold("run", "--id", f"{MARK}-again", *payload, "exit", "3")
is_(run.code, 3, "the next run of that name takes its cgroup over", run)
is_(leftovers(MARK), [], "nothing is left")
for args in ["ps", "x"], ["ps", "--jsn"], ["kill"], ["gc", "x"], ["gc", "--cgroup-parent"]:
    run = pinfold(*args)
    is_(run.code, 125, f"{' '.join(args)}: refused", run)
    like(run.err.decode(), r"usage: pinfold|--help", "with the usage")
done()
