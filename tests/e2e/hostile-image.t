#!/usr/bin/python3
"""An image cannot choose where the sandbox's mounts and files land: links are refused or covered, its own proc and devices
mean nothing, and nothing is made in it or through it."""
import ctypes
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
import host
from pf import *

DIRECTORIES = ("proc", "sys", "dev", "tmp", "run", "scratch", "etc")
BUSYBOX = {"bin/busybox": ("copy", "/bin/busybox"),
           **{f"bin/{name}": ("link", "busybox") for name in ("sh", "cat", "ls", "stat", "id", "grep", "head")}}


def shell(tree, script, *args):
    return pinfold("run", *args, tree, "/bin/sh", "-c", script)


# ---- directories that are links: refused, with the reason ----
with host.canary_folder() as (canary, secret):
    for name in DIRECTORIES:
        for target in (canary, "../../../../../../../.." + canary, "/nowhere", "second"):
            tree = image({**BUSYBOX, "second": ("link", canary), name: ("link", target)})
            run = shell(tree, "true")
            is_((run.status, run.code, run.out), ("refused", 125, b""), f"/{name} -> {target.split('/')[-1]}: refused", run)
            ok(f"/{name} is a symbolic link" in run.message, f"/{name}: the message says which and why", run)
    tree = image({**BUSYBOX, "dev": b"a file"})
    run = shell(tree, "true")
    is_((run.status, run.code), ("refused", 125), "/dev is a file: refused", run)

# ---- files that are links, and what an image pretends: covered ----
with host.canary_folder() as (canary, secret):
    hostile = {
        **BUSYBOX,
        "etc/resolv.conf": ("link", "/run/systemd/resolve/stub-resolv.conf"),
        "etc/passwd": ("link", canary + "/secret"),
        "etc/group": ("link", "../../../../../.." + canary + "/secret"),
        "etc/static": ("link", canary),
        "etc/hosts": ("link", "static/secret"),
        "etc/hostname": ("dir", 0o755),
        "etc/motd": b"of the image\n",
        "dev/null": ("link", "/proc/sys/kernel/core_pattern"),
        "dev/zero": b"not zero",
        "dev/shm": ("link", canary),
        "dev/pts": b"no terminals",
        "dev/extra": b"extra",
        "proc/self/attr/exec": b"fake",
        "proc/self/fd/4": b"fake",
        "proc/keys": ("link", canary + "/secret"),
        "sys/fs/cgroup": ("link", canary),
        "sys/devices/system/cpu/online": b"0-1023\n",
    }
    complete = {**hostile, "tmp": ("dir", 0o755), "run": ("dir", 0o755), "scratch": ("dir", 0o755)}
    for form, files in ("overlay", hostile), ("bind", complete):
        tree = image(files)
        if os.geteuid() == 0:
            os.mknod(os.path.join(tree, "mem"), 0o20666, os.makedev(1, 1))
            os.mknod(os.path.join(tree, "zero"), 0o20666, os.makedev(1, 5))
        before = host.tree(tree)
        run = shell(tree, """
            cat /etc/resolv.conf /etc/hostname /etc/motd | grep -v '^#' | head -n 3
            grep -c user /etc/passwd; grep -c '^user:' /etc/group; grep -c localhost /etc/hosts
            stat -c '%F %t:%T' /dev/null /dev/zero; ls /dev /dev/shm
            stat -f -c %t /proc; cat /proc/keys; ls /sys/fs/cgroup 2>/dev/null | grep -c secret
            cat /sys/devices/system/cpu/online | grep -c 1023
            head -c 4 /mem /zero 2>/dev/null | grep -c .
            exit 0""")
        is_((run.status, run.code), ("exited", 0), f"{form}: it starts", run)
        is_(run.out.decode().split("\n"),
            ["options attempts:1", "pinfold", "of the image", "1", "1", "2",
             "character special file 1:3", "character special file 1:5",
             "/dev:", "fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout", "tty", "urandom",
             "zero", "", "/dev/shm:", "9fa0", "0", "0", "0", ""],
            f"{form}: files, devices and proc are ours, the rest is the image's", run)
        is_(host.tree(tree), before, f"{form}: the image is as it was")

# ---- an image that changes while runs start: nothing of the host is ever shown ----
AT_FDCWD, RENAME_EXCHANGE = -100, 2
libc = ctypes.CDLL(None, use_errno=True)
with host.canary_folder() as (canary, secret):
    for form, extra in ("overlay", {}), ("bind", {name: ("dir", 0o755) for name in DIRECTORIES}):
        tree = image({**BUSYBOX, **extra, "etc/motd": b"of the image\n", "proc/x": b"x", "dev/x": b"x",
                      **{f"other/{name}": ("link", canary) for name in ("etc", "proc", "dev", "scratch")}})
        stop = threading.Event()

        def exchange(tree=tree, stop=stop):
            names = [(os.path.join(tree, name).encode(), os.path.join(tree, "other", name).encode())
                     for name in ("etc", "proc", "dev", "scratch")]
            while not stop.is_set():
                for one, other in names:
                    libc.renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE)

        swapper = threading.Thread(target=exchange)
        swapper.start()
        try:
            outcomes = {}
            for _ in range(30):
                run = shell(tree, "cat /etc/secret /dev/secret /scratch/secret /proc/secret; echo x > /scratch/x; exit 0")
                outcomes[run.status] = outcomes.get(run.status, 0) + 1
                if secret.encode() in run.out or run.status not in ("exited", "refused", "setup-failed", "exec-failed"):
                    ok(False, f"{form}, racing: no run shows the host", run)
                    break
            else:
                ok(True, f"{form}, racing: no run shows the host")
        finally:
            stop.set()
            swapper.join()
        diag(f"{form}, racing: {outcomes}")
done()
