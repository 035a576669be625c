#!/usr/bin/python3
"""A program starts the same whoever starts it: signals, mask, limits, personality and scores of the caller's do not get
through, and what must be inherited is not more than the caller's."""
import ctypes
import os
import resource
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

libc = ctypes.CDLL(None, use_errno=True)
PR_SET_TIMERSLACK, PR_SET_NAME, ADDR_NO_RANDOMIZE, READ_IMPLIES_EXEC = 29, 15, 0x0040000, 0x0400000
RLIMIT_LOCKS, RLIMIT_RTTIME = 10, 15


def hostile():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for number in range(1, 65):
        if number not in (signal.SIGKILL, signal.SIGSTOP, 32, 33):
            signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    os.umask(0o177)
    os.nice(3)
    libc.prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0)
    libc.personality(ADDR_NO_RANDOMIZE | READ_IMPLIES_EXEC)
    for what, value in (resource.RLIMIT_CORE, 0), (resource.RLIMIT_STACK, 1 << 20), (resource.RLIMIT_MEMLOCK, 4096):
        resource.setrlimit(what, (value, value))
    for what in resource.RLIMIT_FSIZE, resource.RLIMIT_DATA, resource.RLIMIT_RSS, resource.RLIMIT_AS, RLIMIT_LOCKS, RLIMIT_RTTIME:
        resource.setrlimit(what, (1 << 30, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CPU, (1, resource.RLIM_INFINITY))


verbs = ["signals", ",", "sched", ",", "rlimits", ",", "caps", ",", "status", "Groups", "Seccomp:", "NoNewPrivs", ",", "cat", "/proc/self/oom_score_adj",
         ",", "cwd", ",", "tty", ",", "uname", ",", "fds"]
plain = pinfold("run", tiny(), "/bin/payload", *verbs)
run = pinfold("run", tiny(), "/bin/payload", *verbs, preexec_fn=hostile)
is_((plain.status, run.status), ("exited", "exited"), "it runs from anywhere", run)
out = run.out.decode()
for name in "SigBlk", "SigIgn", "SigCgt", "SigPnd", "ShdPnd":
    like(out, rf"^{name}:\t0{{16}}$", f"{name} is empty")
unlike(out, r"^(handled|blocked) ", "no disposition but the default")
like(out, r"^umask 22$", "umask 022")
like(out, r"^personality 0$", "the personality is Linux's own")
like(out, r"^timerslack 50000$", "the usual timer slack")
like(out, r"^nice 3$", "a caller that is nice stays so")
like(out, r"^policy 0$", "the usual scheduler")
like(out, r"^dumpable 1$", "dumpable, for its own /proc")
like(out, r"^core (0 0|1 1)$", "RLIMIT_CORE: not above the caller's, unless the caller may raise it")
like(plain.out.decode(), r"^core 1 1$", "RLIMIT_CORE: 1, which stops a core handler too")
like(out, r"^stack 1048576 1048576$", "RLIMIT_STACK: not above the caller's")
like(out, r"^memlock 4096 4096$", "RLIMIT_MEMLOCK: not above the caller's")
like(out, r"^rtprio 0 0$", "no real time")
warned = [text for text in run.result["warnings"] if "hard limit" in text]
is_(len(warned), 1, "of what is cut, what would be felt is a warning", run)
like(warned[0], r"RLIMIT_STACK .*1048576.*SIGSEGV", "with its figure")
for name in "cpu", "fsize", "data", "rss", "as", "locks", "rttime":
    like(out, rf"^{name} -1 -1$", f"{name}: a soft limit that can be lifted is lifted")
for name in "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb":
    like(out, rf"^{name}:\t0{{16}}$", f"{name} is empty")
like(out, r"^NoNewPrivs:\t1$", "no new privileges")
like(out, r"^Seccomp:\t2$", "a filter")
like(out, r"^cwd /scratch$", "in the scratch")
like(out, r"^ctty ENXIO$", "no terminal")
like(out, r"^node pinfold\ndomain (\(none\))?$", "the name of the machine, and no domain")
run = pinfold("run", "--hostname", "a-b.example", tiny(), "/bin/payload", "uname", ",", "cat", "/etc/hostname")
like(run.out, rb"(?s)^node a-b.example$.*^a-b.example$", "--hostname")




def own_score(score):
    with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write(score)


with open("/proc/self/oom_score_adj", encoding="ascii") as file:
    usual = file.read()
for score, want in ("-500", "0"), ("300", "300"):
    try:
        own_score(score)
    except PermissionError:
        skip("needs root with CAP_SYS_RESOURCE", f"oom_score_adj {score}")
        continue
    run = pinfold("run", tiny(), "/bin/payload", "cat", "/proc/self/oom_score_adj", ",", "write", "/proc/self/oom_score_adj", "-1")
    own_score(usual)
    like(run.out, rb"\A%s\n" % want.encode(), f"a caller's oom_score_adj of {score} becomes {want}")
    like(run.out, rb"^error (open|write) E", "and cannot be lowered inside")

# A hard limit that the caller cannot raise holds inside too, and what it does there is explained.
CAP_SYS_RESOURCE = 1 << 24
with open("/proc/self/status", encoding="ascii") as file:
    raises = WHO == "root" and any(int(line.split()[1], 16) & CAP_SYS_RESOURCE for line in file if line.startswith("CapEff"))


def hard(what, value):
    return lambda: resource.setrlimit(what, (value, value))


for name, value, felt in (("CPU", 2, "SIGXCPU or SIGKILL"), ("FSIZE", 1 << 20, "SIGXFSZ or EFBIG"), ("DATA", 1 << 30, "ENOMEM"),
                          ("AS", 1 << 30, "ENOMEM or SIGSEGV")):
    run = pinfold("run", tiny(), "/bin/payload", "rlimits", preexec_fn=hard(getattr(resource, "RLIMIT_" + name), value))
    warned = [text for text in run.result["warnings"] if f"RLIMIT_{name} " in text and f" {value} " in text and felt in text]
    if raises:
        like(run.out.decode(), rf"^{name.lower()} -1 -1$", f"{name}: root lifts the hard limit too")
        is_(run.result["warnings"], [], f"{name}: and has nothing to say")
    else:
        like(run.out.decode(), rf"^{name.lower()} {value} {value}$", f"{name}: the hard limit stays")
        is_(len(warned), 1, f"{name}: and is a warning with figure and consequence", run)
        is_(run.err.decode().count(f"RLIMIT_{name} "), 1, f"{name}: on stderr too, once", run)
if not raises:
    run = pinfold("run", tiny(), "/bin/payload", "burn", "20", preexec_fn=hard(resource.RLIMIT_CPU, 1))
    is_((run.status, len(run.result["warnings"])), ("signaled", 1), "a program that is killed by it: the warning says by what", run)

# Fewer cpus than the machine has: what the caller may use is what there is.
cpu = sorted(os.sched_getaffinity(0))[-1]
run = pinfold("run", "--cpus", "none", tiny(), "/bin/payload", "sched", preexec_fn=lambda: os.sched_setaffinity(0, {cpu}))
like(run.out, rb"^affinity 1\nonline 1\n", "the caller's affinity bounds the program's")
done()
