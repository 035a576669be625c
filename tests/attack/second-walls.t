#!/usr/bin/python3
"""The walls behind the filter: with the filter off, what is privileged stays shut by capabilities, ids, limits and mounts."""
import os
import ctypes
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from attack import *
from pf import *

from host import canary_folder

OFF = ["--seccomp", allow_all()]


def join_session():
    """A session keyring with one key in it: keyctl(2), KEYCTL_JOIN_SESSION_KEYRING, KEY_SPEC_SESSION_KEYRING."""
    libc, x86 = ctypes.CDLL(None, use_errno=True), os.uname().machine == "x86_64"
    keyctl, add_key = (250, 248) if x86 else (219, 217)
    if libc.syscall(keyctl, 1, b"pinfold-test") < 0 or libc.syscall(add_key, b"user", b"pinfold-canary", b"secret", 6, -3) < 0:
        raise OSError(ctypes.get_errno(), "keys")


tree = probe_image(targets=True)

run = do(tree, "status", flags=OFF)
is_(run.guarantee("seccomp")["by"], "custom", "the ledger says that the filter is not ours", run)

attack({f"FS01.{name}": "EROFS" for name in ("create-root", "append", "chmod", "chown", "utimes", "setxattr", "rename", "unlink",
                                              "mkdir", "setflags")}, tree, OFF)
with canary_folder() as (folder, secret):
    with subprocess.Popen([PROBE, "do", "sleep"]) as host:
        attack({"FS02.direct": "ENOENT", "FS02.dotdot": "ENOENT", "FS02.proc-1-root": "EACCES", "FS02.every-root": "ENOENT|EACCES",
                "FS02.every-fd": "ENOENT|EACCES", "FS02.chroot": "EPERM", "FS02.handle": "EPERM"},
               tree, OFF, {"CANARY": os.path.join(folder, "secret"), "TARGET": str(host.pid)})
        host.kill()
attack({f"FS11.{name}": "EPERM" for name in
        ("tmpfs", "proc", "sysfs", "devpts", "overlay", "bind", "move", "remount-root", "remount-dev", "remount-proc", "shared",
         "umount-proc", "umount-dev", "pivot-root", "chroot", "fsopen", "open-tree", "fspick", "mount-setattr")} |
       {"FS11.userns": "ENOSPC", "FS10.mount-v2": "EPERM", "FS10.mount-v1": "EPERM"}, tree, OFF, lacking=("FS10.mount-v1",))
attack({"FS15.mknod-null": "EPERM", "FS15.mknod-mem": "EPERM", "FS15.mknod-disk": "EPERM", "FS15.image-node": "EACCES|ENOENT",
        "FS16.setuid": "EPERM", "FS16.setgid": "EPERM", "FS16.file-capability": "EPERM"}, tree, OFF)

# ENOSPC: user.max_*_namespaces is 0, whoever asks.
names = ("user", "mount", "pid", "net", "ipc", "uts", "cgroup")
attack({f"PR16.unshare-{name}": "ENOSPC|EPERM" for name in (*names, "time")} |
       {f"PR16.clone-{name}": "ENOSPC|EPERM" for name in (*names, "user-net")} |
       {"PR16.unshare-user": "ENOSPC", "PR16.clone-user": "ENOSPC", "PR16.clone3-user": "ENOSPC", "PR16.clone3-time": "ENOSPC|EPERM"} |
       {f"PR16.setns-{name}": "EPERM" for name in ("net", "mnt", "pidfd")}, tree, OFF)
attack({"PR14.capset": "EPERM", "PR14.securebits": "EPERM", "PR14.setuid-0": "EPERM|EINVAL", "PR14.setgid-0": "EPERM|EINVAL",
        "PR15.setgroups": "EPERM"}, tree, OFF)

with subprocess.Popen([PROBE, "do", "sleep"]) as host:
    for flags in (OFF, [*OFF, "--uid", "0"]):
        attack({f"PR12.{name}": "EPERM|EACCES" for name in
                ("mem", "environ", "maps", "fd", "root", "exe", "vm-read", "vm-write", "ptrace", "getfd", "kcmp", "madvise", "move-pages")},
               tree, flags, {"TARGET": str(host.pid)}, lacking=("PR12.kcmp",), title=" ".join(flags[2:]) + " ")
    host.kill()

attack({f"KI09.{name}": "EPERM|ENOSYS" for name in
        ("reboot", "kexec", "init-module", "finit-module", "delete-module", "swapon", "swapoff", "acct", "sethostname",
         "setdomainname", "iopl", "ioperm", "syslog", "vhangup")} |
       {"KI06.packet": "EPERM", "KI06.raw": "EPERM", "KI06.packet-high": "EPERM", "FS22.fanotify": "EMFILE|ENOSPC|EPERM"}, tree, OFF,
       lacking={f"KI09.{name}" for name in ("kexec", "init-module", "finit-module", "delete-module", "iopl", "ioperm", "acct",
                                            "swapon", "swapoff")})
attack({"RS13.inotify-instances": "EMFILE"}, tree, OFF, {"COUNT": "17"})

# Keys hang on the session, which would come from the caller. A filter of the caller's may well allow keyctl.
controls = weak(tree, ["PR18.callers"], preexec_fn=join_session)
_, flags = mark_flags()
run = pinfold("run", *flags, *OFF, tree, "/bin/probe", "PR18.callers", preexec_fn=join_session)
is_(controls.get("PR18.callers"), ("reached", "0"), "control: unconfined, a key of the caller's session is read")
like(run.out, rb"^PR18.callers blocked (ENOKEY|EACCES)$", "inside, the caller's session and its keys are out of reach")

# A key that one run leaves in its user's keyring is in no other's: those hang on the user namespace.
controls = weak(tree, ["PR18.mark", "PR18.marked", "PR18.unmark"])
is_(set(controls.values()), {("reached", "0")}, "control: unconfined, another process finds it", str(controls))
outcomes, run = strong(tree, ["PR18.mark", "PR18.marked"], OFF)
is_(set(outcomes.values()), {("reached", "0")}, "without the filter a run finds its own", run)
outcomes, run = strong(tree, ["PR18.marked"], OFF)
is_(outcomes, {"PR18.marked": ("blocked", "ENOKEY")}, "and the next run does not", run)
outcomes, run = strong(tree, ["PR18.mark", "PR18.marked"])
is_(set(outcomes.values()), {("blocked", "EPERM")}, "with the filter neither is to be had", run)
is_(weak(tree, ["PR18.marked"]).get("PR18.marked"), ("blocked", "ENOKEY"), "and none of it is in the host's keyrings")
done()
