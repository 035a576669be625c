#!/usr/bin/python3
"""Whichever system call of the set-up fails, with whatever error, the run fails closed: it ends, with a result or at least a
word on stderr, the program has either run as it should or not at all, and nothing is left."""
import concurrent.futures
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from host import leftovers
from pf import *
import pf

STRACE = "/usr/bin/strace"
if not os.path.exists(STRACE):
    skip_all("needs strace")
MARK = f"fault-{os.getpid()}"
folder = tmpdir()
# The program says what its protection is: whatever fails, it must be this or nothing.
WORDS = ["/bin/payload", "caps", ",", "status", "Uid", "Gid", ",", "rlimits", ",", "open", "w", "/usr", "/etc/passwd", "/proc/sys/kernel/core_pattern"]


def strace(number, options, timeout=120):
    result = os.path.join(folder, f"{number}.json")
    argv = [STRACE, "-f", "-qq", *options, program_path(), "run", "--id", f"{MARK}-{number}", "--wall", "60s", "--result", result, tiny(), *WORDS]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd="/", timeout=timeout, check=False,
                          env=pf._environment(WHO), **pf._credentials(WHO))
    return Run(argv, done.returncode, done.stdout, done.stderr, 0, result, None)


tiny(), program_path()
trace = os.path.join(folder, "trace")
control = strace("control", ["-o", trace])
is_(control.status, "exited", "it runs under strace", control)
with open(trace, encoding="utf-8", errors="replace") as file:
    calls = re.findall(r"^\d+ +(\w+)\(", file.read(), re.M)
names = sorted(set(calls))
diag(f"{len(calls)} calls of {len(names)} kinds")
# A program of its own is not the set-up; what it reads of itself must not be faked.
SKIP = {"execve", "exit_group", "exit", "restart_syscall", "rt_sigreturn", "arch_prctl", "brk", "set_tid_address", "set_robust_list", "rseq",
        "getrandom", "mprotect", "munmap", "readlink"}
faults = []
for name in names:
    count = calls.count(name)
    for when in sorted({1, (count + 1) // 2, count}) if name not in SKIP else ():
        faults.append((name, when))


def one(job):
    number, (name, when) = job
    error = ("EPERM", "ENOMEM", "EMFILE", "EAGAIN", "ENOSPC")[number % 5]
    path = os.path.join(folder, f"{number}.trace")
    run = strace(number, ["-o", path, "-e", f"trace={name},execve", "-e", f"inject={name}:error={error}:when={when}"])
    with open(path, encoding="utf-8", errors="replace") as file:
        own = hit_program(file.read())
    os.unlink(path)
    return f"{name} no. {when}: {error}", run, own


def hit_program(text):
    """Whether a call of the program's own was faked: made by a process that had executed it. The first line is our own
    start, and no other execve succeeds. What it executes strace may not be let read."""
    programs, lines = set(), text.splitlines()
    for line in lines[1:]:
        pid = line.split()[0]
        if "execve" in line and line.endswith("= 0"):
            programs.add(pid)
        elif "INJECTED" in line and pid in programs:
            return True
    return False


def judge(run, own):
    """All or nothing: a run that ends well is the whole of a good one. Only where a call of the program's own was faked
    may it say so, and end otherwise."""
    lines = run.out.splitlines()
    if own:
        lines = [line for line in lines if not line.startswith(b"error ")]
    if not set(lines) <= set(control.out.splitlines()):
        return False
    if run.status in ("exited", "signaled"):
        return own or (run.status, run.code, run.out) == (control.status, control.code, control.out)
    return run.code not in (0, 124, None) and bool(run.result or run.err)


bad, seen = [], {}
with concurrent.futures.ThreadPoolExecutor(3) as pool:
    for name, run, own in pool.map(one, enumerate(faults)):
        kind = run.status or f"code {run.code}"
        seen[kind] = seen.get(kind, 0) + 1
        if not judge(run, own):
            bad.append(name)
            diag(f"{name}: {run.status} {run.code} {run.out!r:.300} {run.err[-300:]!r}")
diag(str(seen))
is_(bad, [], f"{len(faults)} faults: all or nothing")
# The wait is for what a failed rmdir leaves to the next run.
pinfold("gc")
is_(leftovers(MARK), [], "no process, socket, cgroup or mount is left")
done()
