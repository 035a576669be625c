#!/usr/bin/python3
"""PR19, PR20, PR22, PR23, KI13: a program starts with what the spec says and nothing else of the caller's."""
import os
import re
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from attack import *
from pf import *

tree = probe_image()

# ---- PR19: the environment ----
secrets = {"LD_PRELOAD": "/nonexistent.so", "LD_LIBRARY_PATH": "/nonexistent", "NOTIFY_SOCKET": "@secret", "SECRET_TOKEN": "secret",
           "SSH_AUTH_SOCK": "/secret", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/secret", "BASH_ENV": "/secret", "PYTHONPATH": "/secret",
           "GLIBC_TUNABLES": "glibc.malloc.check=0", "TERM": "secret", "HOME": "/secret", "IFS": "x"}
run = do(tree, "environment", env=secrets)
names = sorted(line.split("=")[0] for line in run.out.decode().splitlines())
is_(names, ["HOME", "LANG", "LOGNAME", "PATH", "PROBE_MARK", "USER"], "the environment is ours and the spec's", run)
unlike(run.out, rb"secret|nonexistent", "nothing of the caller's")
run = do(tree, "cat", "/proc/self/environ", "/proc/self/auxv", env=secrets)
unlike(run.out, rb"secret|nonexistent", "nor in /proc/self/environ and auxv")

# ---- PR20: words are words ----
words = ["--bind", "-x", "--", "", "a b", "'\"$(id)`\\", "\t\n\r\x1b[2J", "ä\u202e", "x" * 100000, "--memory=1K", "@host", "%s%n"]
odd = [bytes(range(1, 128)), bytes(range(128, 256))]
run = do(tree, "words", *words, *odd)
got = [bytes.fromhex(line.split(" ", 1)[1]) for line in run.out.decode().splitlines()]
is_(got, [w.encode() for w in words] + odd, "every word arrives as it is", run)
run = pinfold("run", tree, "-x")
is_((run.status, run.code), ("exec-failed", 127), "a command that looks like an option is one that is not there", run)
run = do(tree, "words", "x" * 131071)
is_(run.status, "exited", "the longest word that the kernel takes", run)

# ---- PR22: signals ----


def awkward():
    """What nohup, Python and others leave their children."""
    for number in (signal.SIGPIPE, signal.SIGCHLD, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, set(range(1, 32)) - {9, 19})
    os.nice(3)
    os.umask(0o077)


def status(**options):
    run = do(tree, "status", **options)
    lines = [line.partition(":\t") for line in run.out.decode().splitlines()]
    return {name: value.strip() for name, _, value in lines}, run


for name, options in ("a plain caller", {}), ("an awkward caller", {"preexec_fn": awkward}):
    seen, run = status(**options)
    is_({key: int(seen.get(key, "1"), 16) for key in ("SigBlk", "SigIgn", "SigCgt", "ShdPnd", "SigPnd")},
        dict.fromkeys(("SigBlk", "SigIgn", "SigCgt", "ShdPnd", "SigPnd"), 0), f"{name}: no signal is blocked, ignored or pending", run)
    is_((seen.get("Umask"), seen.get("Timerslack"), seen.get("Dumpable"), seen.get("Personality"), seen.get("Scheduler"),
         seen.get("TracerPid")), ("0022", "50000", "1", "0", "0", "0"), f"{name}: umask, timers, personality and scheduler", run)

# ---- PR23: limits (numbers of include/uapi/asm-generic/resource.h) ----
CORE, NOFILE, MEMLOCK, SIGPENDING, MSGQUEUE, NICE, RTPRIO = 4, 7, 8, 11, 12, 13, 14
run = do(tree, "limits")
limits = {int(row[0]): (row[1], row[2]) for row in map(str.split, run.out.decode().splitlines())}
want = {CORE: "1", NOFILE: "256" if SINGLE else "1024", MEMLOCK: str(8 << 20), SIGPENDING: "256" if SINGLE else "4096",
        MSGQUEUE: "819200", NICE: "0", RTPRIO: "0"}
is_({n: limits.get(n) for n in want}, {n: (v, v) for n, v in want.items()}, "limits, soft and hard", run)
run = do(tree, "cat", "/proc/self/oom_score_adj")
within(int(run.out), 0, 1000, "it is no better off than others when memory is short")

# ---- KI13: the filter is on every task ----
run = do(tree, "tasks")
pairs = re.findall(r"^NoNewPrivs:\t(\d).*?^Seccomp:\t(\d)", run.out.decode(), re.M | re.S)
is_((len(pairs), set(pairs)), (4, {("1", "2")}), "two threads, and two after vfork and exec: filter and no new privileges", run)
done()
