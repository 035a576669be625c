#!/usr/bin/python3
"""Another user's names are in nobody's way, however many there are: what `run`, `ps`, `kill` and `gc` do for them does not grow
with their number, but for the one list of sockets that the kernel gives; and where a bound is reached, it is said."""
import contextlib
import ctypes
import json
import os
import pwd
import re
import resource
import signal
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from host import fill
from pf import *
import pf

STRACE = "/usr/bin/strace"
if os.geteuid() != 0:
    skip_all("needs root, to be another user")
if not os.path.exists(STRACE):
    skip_all("needs strace")
# The names of a network namespace of its own are in no other test's way either.
CLONE_NEWNET = 0x40000000
if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) != 0:
    skip_all("needs a network namespace")
OTHER, NAMES, BOUND = 65534, 2000, 1024
MARK = f"foreign-{os.getpid()}"
uid = 0 if WHO == "root" else pwd.getpwnam(TEST_ACCOUNT).pw_uid
payload = ["--env", f"MARK={MARK}", tiny(), "/bin/payload"]
sleep = [*payload, "echo", "ready", ",", "sleep", "600"]
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)

# Every queue is full, so that no connection tells who listens.
FLOOD = """
import socket, sys
held = []
for name in sys.stdin.readline().split():
    held.append(socket.socket(socket.AF_UNIX))
    held[-1].bind("\\0" + name)
    held[-1].listen(0)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect("\\0" + name)
print(len(held), flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def flood(names):
    """Another user's process that listens at those names and answers nobody."""
    with subprocess.Popen(["/usr/bin/python3", "-c", FLOOD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/",
                          user=OTHER, group=OTHER, extra_groups=[]) as other:
        other.stdin.write(" ".join(names).encode() + b"\n")
        other.stdin.flush()
        if int(other.stdout.readline()) != len(names):
            raise RuntimeError("no flood")
        yield other
        other.stdin.close()


def traced(*words, options=()):
    """What it does, and the system calls for it; without -f those of pinfold's own process."""
    folder = tmpdir()
    trace = os.path.join(folder, "trace")
    argv = [STRACE, "-qq", "-s", "200", "-o", trace, *options, program_path(), *words]
    ended = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, cwd="/", timeout=60, check=False,
                           env=pf._environment(WHO), **pf._credentials(WHO))
    with open(trace, encoding="utf-8", errors="replace") as file:
        return Run(argv, ended.returncode, ended.stdout, ended.stderr, 0, None, None), file.read()


def count(trace, pattern):
    return len(re.findall(pattern, trace, re.M))


def effort(trace):
    """Lists of sockets, names asked, walks over the processes."""
    return (count(trace, r"^socket\(AF_NETLINK, .*SOCK_DIAG"), count(trace, r"^connect\(.*@\"pinfold/"),
            count(trace, r"^openat\(AT_FDCWD, \"/proc\", O_RDONLY.*O_CLOEXEC\|O_DIRECTORY"))


def calls(trace):
    return len(trace.splitlines())


def rows(out):
    return {row["id"]: row for row in json.loads(out) if row["id"].startswith(MARK)}


control, trace = traced("run", "--id", f"{MARK}-a", *payload, "exit", "3")
is_((control.code, effort(trace)), (3, (1, 0, 0)), "a run of a chosen id: one list, nobody asked", control)
usual = calls(trace)
run, trace = traced("run", *payload, "exit", "3")
is_((run.code, effort(trace)), (3, (0, 0, 0)), "a run of a random id: not even that", run)
_, trace = traced("ps")
usual_ps = calls(trace)

prefix = f"pinfold/{uid}/{MARK}"
names = [f"{prefix}-a", *(f"{prefix}-{which}/{i}" for which in "ab" for i in range(NAMES // 2 - 1)), f"{prefix}-c"]
with flood(names) as other, contextlib.ExitStack() as stack:
    for which in "a", "b":
        run, trace = traced("run", "--id", f"{MARK}-{which}", *payload, "exit", "3")
        is_((run.code, effort(trace)), (3, (1, 0, 0)), f"{which}: a run starts beside {NAMES} names of another user, of whom none is asked", run)
        within(calls(trace), 0, usual + NAMES / 10, f"{which}: and does not do something for each")
    runs = {which: stack.enter_context(start("run", "--id", f"{MARK}-{which}", *sleep)) for which in ("a", "b", "d")}
    for each in runs.values():
        each.line()
    for which in "a", "b":
        run, trace = traced("run", "--id", f"{MARK}-{which}", *payload, "exit", "3")
        is_((run.code, effort(trace)), (125, (1, 1, 0)), f"{which}: a second run of the id is refused; our own name is asked", run)
        like(run.err.decode(), rf"alive, uid {uid} \(pid {runs[which].pid}\)", f"{which}: by the pid of the first")
    run, trace = traced("ps", "--json")
    listed = rows(run.out)
    is_((run.code, {name: row["pid"] for name, row in listed.items()}), (0, {f"{MARK}-{which}": each.pid for which, each in runs.items()}),
        "ps lists ours, and nothing else", run)
    is_((effort(trace)[0], effort(trace)[2]), (1, 0), "by one list, and no walk")

    # Two of ours whose queue is full are looked for in one walk, which leaves the other user's processes out.
    for which in "b", "d":
        runs[which].signal(signal.SIGSTOP)
        fill(stack, f"\0{prefix}-{which}")
    run, trace = traced("ps", "--json")
    listed = rows(run.out)
    is_({name: (row["pid"], row["answers"]) for name, row in listed.items()},
        {f"{MARK}-{which}": (each.pid, which == "a") for which, each in runs.items()}, "ps finds those that do not answer", run)
    is_((effort(trace)[0], effort(trace)[2]), (1, 1), "by one list, and one walk")
    is_(count(trace, rf"\"{other.pid}/fd\""), 0, "which leaves out the other user's process")
    run, trace = traced("gc")
    is_((run.code, effort(trace)[0]), (0, 1), "gc: one list", run)
    run, trace = traced("kill", f"{MARK}-a", f"{MARK}-b", f"{MARK}-c", f"{MARK}-d", f"{MARK}-e")
    is_((run.code, [each.wait().status for each in runs.values()]), (125, ["cancelled"] * 3), "kill ends ours", run)
    like(run.err.decode(), rf"{MARK}-c: no run of yours, but uid {OTHER} holds its name", "says whose another is")
    like(run.err.decode(), rf"{MARK}-e: no run of yours has this id", "and that one is nobody's")
    is_((effort(trace)[0], effort(trace)[2]), (1, 1), "all by one list, and one walk")

    # A list that takes longer than its bound, as that many sockets could make it: nothing is refused for that, and it is said.
    late = ["-e", "inject=recvfrom:delay_exit=1100ms:when=1"]
    with start("run", "--id", f"{MARK}-late", *sleep) as ours:
        ours.line()
        run, trace = traced("ps", options=late)
        is_((run.code, count(trace, r"^recvfrom\(")), (125, 1), "a list that takes too long is not read on", run)
        like(run.err.decode(), r"there may be more", "and that there may be more is said")
        run, trace = traced("run", "--id", f"{MARK}-late", *payload, "exit", "3", options=late)
        like(run.err.decode(), rf"alive, uid {uid} \(pid {ours.pid}\)", "a second run of an id is refused")
        run, trace = traced("run", "--id", f"{MARK}-b", *payload, "exit", "3", options=late)
        is_(run.code, 3, "another starts", run)
        run, trace = traced("kill", f"{MARK}-late", f"{MARK}-e", options=late)
        is_((run.code, ours.wait().status), (125, "cancelled"), "kill asks for the name itself", run)
        like(run.err.decode(), rf"{MARK}-e: not found, but there may be more", "and says what it cannot know")

    # A kernel that gives no such list: each name is asked, up to a bound.
    mute = ["-e", "inject=sendto:error=ENOENT:when=1"]
    run, trace = traced("run", "--id", f"{MARK}-b", *payload, "exit", "3", options=mute)
    is_(run.code, 3, "without a list: a run starts", run)
    within(effort(trace)[1], NAMES // 2 - 1, BOUND, "having asked each name of its id")
    run, trace = traced("run", "--id", f"{MARK}-a", *payload, "exit", "3", options=mute)
    is_(run.code, 125, "not under a name of which it is not to be known whose it is", run)
    like(run.err.decode(), r"does not answer .* holds its name", "and says so")
    run, trace = traced("ps", options=mute)
    is_((run.code, effort(trace)[1]), (125, BOUND), "ps asks no more names than its bound", run)
    like(run.err.decode(), r"there may be more", "and says that there may be more")

# Of this user's own names, too, no more are taken in than the bound.
os.seteuid(uid)
with contextlib.ExitStack() as stack:
    for i in range(BOUND + 1):
        own = stack.enter_context(socket.socket(socket.AF_UNIX))
        own.bind(f"\0{prefix}-own/{i}")
        own.listen()
    os.seteuid(0)
    run = pinfold("ps", "--json")
    is_(run.code, 125, "more names of our own than the bound", run)
    is_(len(json.loads(run.out)), BOUND, "as many are listed as it takes in")
    like(run.err.decode(), r"there may be more", "and that there may be more is said")
run, trace = traced("ps")
is_((run.code, MARK.encode() in run.out), (0, False), "nothing is left", run)
within(calls(trace), 0, usual_ps + 20, "and ps is as short as before")
done()
