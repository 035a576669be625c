#!/usr/bin/python3
"""Where the host lacks what a sandbox needs, the run is refused or fails with the reason and, where there is one, the way out;
it never starts with less than it says."""
import os
import resource
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *
import pf

STRACE = "/usr/bin/strace"
if not os.path.exists(STRACE):
    skip_all("needs strace")
folder = tmpdir()


def inject(fault, *args):
    """A run in which strace makes a system call fail, in every process up to the program."""
    result = os.path.join(folder, "result.json")
    if os.path.exists(result):
        os.unlink(result)
    argv = [STRACE, "-f", "-qq", "-o", "/dev/null", "-e", f"inject={fault}", "-e", "signal=none", program_path(), "run", "--result", result,
            *args, tiny(), "/bin/payload", "echo", "ran"]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd="/", timeout=120, check=False,
                          env=pf._environment(WHO), **pf._credentials(WHO))
    return Run(argv, done.returncode, done.stdout, done.stderr, 0, result, None)


control = inject("getppid:delay_enter=1")
is_((control.status, control.out), ("exited", b"ran\n"), "under strace, with nothing failing, it runs", control)

for fault, pattern in {
    "clone3:error=EPERM": r"clone3.*not permitted",
    "clone3:error=ENOSPC": r"clone3.*No space left",
    "clone3:error=ENOSYS": r"clone3",
    "openat2:error=ENOSYS": r"\S",
    "seccomp:error=ENOSYS": r"seccomp",
    "seccomp:error=EINVAL": r"seccomp",
    "mount:error=EPERM": r"\S",
    "mount_setattr:error=ENOSYS": r"\S",
    "pivot_root:error=EPERM": r"pivot_root",
    "move_mount:error=ENOSYS": r"\S",
    "pidfd_open:error=ENOSYS": r"\S",
    "close_range:error=ENOSYS": r"\S",
    "capset:error=EPERM": r"\S",
    "prlimit64:error=EPERM": r"\S",
    "sethostname:error=EPERM": r"host name",
    "setsid:error=EPERM": r"session",
    "memfd_create:error=EPERM": None,
    "timerfd_create:error=EMFILE": r"timer",
    "signalfd4:error=EMFILE": r"signalfd",
    "pipe2:error=EMFILE": r"pipe",
    "socketpair:error=EMFILE": r"\S",
}.items():
    run = inject(fault)
    name = fault.replace(":error=", " ")
    if pattern is None and run.status == "exited":
        ok(run.out == b"ran\n", f"{name}: not needed here", run)
        continue
    ok(run.status in ("refused", "setup-failed") and run.code == 125 and run.out == b"", f"{name}: nothing runs", run)
    like(run.message if run.result else run.err.decode(), pattern or r"\S", f"{name}: says why")

# What the caller itself is short of.
for what, limit in (resource.RLIMIT_NOFILE, 12), (resource.RLIMIT_NOFILE, 16), (resource.RLIMIT_NOFILE, 20), (resource.RLIMIT_FSIZE, 0):
    run = pinfold("run", tiny(), "/bin/payload", "echo", "ran", preexec_fn=lambda w=what, v=limit: resource.setrlimit(w, (v, v)))
    good = (run.status == "exited" and run.out == b"ran\n") or (run.code == 125 and run.out == b"" and run.err != b"")
    ok(good, f"rlimit {what} of {limit}: all or nothing", run)
if WHO == "user":
    run = pinfold("run", tiny(), "/bin/payload", "echo", "ran", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NPROC, (1, 1)))
    good = (run.status == "exited" and run.out == b"ran\n") or (run.code == 125 and run.out == b"" and run.err != b"")
    ok(good, "RLIMIT_NPROC of 1: all or nothing", run)
done()
