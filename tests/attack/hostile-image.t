#!/usr/bin/python3
"""FS05, FS06, T18, T21: an image whose mount targets are traps is refused or covered; nothing is made outside of it."""
import os
import ctypes
import shutil
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from attack import *
from pf import *

from host import canary_folder

LIBC = ctypes.CDLL(None, use_errno=True)
AT_FDCWD, RENAME_EXCHANGE = -100, 2


def run_in(files, *words, **options):
    tree = probe_image(files)
    _, flags = mark_flags()
    return pinfold("run", *flags, tree, "/bin/probe", *(words or ("do", "nothing")), **options), tree


with canary_folder() as (canary, secret):
    up = "../" * 30
    links = {"absolute": canary, "relative": up + canary, "dangling": "/nothing", "to the outer root": up, "a second link": "second",
             "a magic link": "/proc/self/cwd", "itself": None}
    for target in ("proc", "sys", "dev", "tmp", "run", "scratch", "etc"):
        tree, wrong = probe_image({"second": ("link", canary)}), []
        place = os.path.join(tree, target)
        shutil.rmtree(place, ignore_errors=True)
        with unharmed(f"/{target} is a link"):
            for name, to in links.items():
                os.symlink(to or target, place)
                run = pinfold("run", tree, "/bin/probe", "do", "nothing")
                if run.status != "refused" or run.code != 125 or f"/{target}" not in run.message:
                    wrong.append((name, run.status, run.message))
                os.unlink(place)
        is_(wrong, [], f"/{target} as a link, {len(links)} kinds: refused, and the message names it")
    for target in ("proc", "tmp", "scratch"):
        run, _ = run_in({target: b"a file"})
        is_((run.status, run.code), ("refused", 125), f"/{target} as a file is refused", run)

    # Files are replaced, whatever they are in the image, and whatever form the mount tree takes.
    traps = {"etc/resolv.conf": ("link", os.path.join(canary, "secret")), "etc/hosts": ("link", "/proc/sys/kernel/core_pattern"),
             "etc/hostname": ("link", up + canary + "/secret"), "etc/group": ("dir", 0o755), "etc/passwd": ("link", "passwd")}
    for name, more in ("a skeleton over the image", {}), ("every target there", {n: ("dir", 0o755) for n in
                                                                               ("proc", "sys", "tmp", "run", "scratch")}):
        files = {path: trap for path, trap in traps.items() if path != "etc/passwd"} | more
        with unharmed(name):
            run, _ = run_in(files, "do", "cat", *(f"/{path}" for path in traps))
        is_(run.status, "exited", f"{name}: it starts", run)
        unlike(run.out, secret.encode(), f"{name}: no link of /etc leads to the host")
        like(run.out.decode(), r"^127\.0\.0\.1\tlocalhost", f"{name}: hosts is ours")
        like(run.out.decode(), r"^user:x:1000:", f"{name}: passwd and group are ours")

    # The image's /dev is nobody's: covers and devices are ours.
    core = "/proc/sys/kernel/core_pattern"
    with open(core, "rb") as file:
        pattern = file.read()
    for name, null in ("a link to core_pattern", ("link", core)), ("a link to the host", ("link", os.path.join(canary, "secret"))), \
            ("a regular file", b"not null"), ("a folder", ("dir", 0o755)):
        with unharmed(f"/dev/null is {name}"):
            run, _ = run_in({"dev/null": null, "dev/zero": null}, "do", "null")
        is_((run.status, run.out), ("exited", b"1:3 1:5 masked\n"), f"/dev/null is {name}: ours is 1:3, masked files are empty", run)
    with open(core, "rb") as file:
        is_(file.read(), pattern, "core_pattern is as it was")

# ---- a concurrent run, or somebody else, that may write to the tree: the target changes all the time ----


def exchange(one, two, stop):
    one, two = one.encode(), two.encode()
    while not stop.is_set():
        for _ in range(100):
            LIBC.renameat2(AT_FDCWD, one, AT_FDCWD, two, RENAME_EXCHANGE)


with canary_folder() as (canary, secret):
    for target, more in ("tmp", {}), ("dev", {}), ("etc", {}), \
            ("tmp", {n: ("dir", 0o755) for n in ("proc", "sys", "tmp", "run", "scratch")}), \
            ("etc", {n: ("dir", 0o755) for n in ("proc", "sys", "tmp", "run", "scratch")}):
        tree = probe_image({target: ("dir", 0o777), "evil": ("link", canary)} | more)
        stop, ends = threading.Event(), {}
        thread = threading.Thread(target=exchange, args=(os.path.join(tree, target), os.path.join(tree, "evil"), stop))
        thread.start()
        with unharmed("a race"):
            for _ in range(8):
                run = pinfold("run", "--env", "COUNT=1", tree, "/bin/probe", "FS18.tmp", "FS18.shm", "FS01.create-etc")
                ends[run.status] = ends.get(run.status, 0) + 1
        stop.set()
        thread.join()
        form = "bound" if more else "overlaid"
        ok(set(ends) <= {"exited", "refused", "setup-failed", "exec-failed"}, f"/{target} changes while an image is {form}: {ends}")
        is_(sorted(os.listdir(canary)), ["secret"], f"/{target}, {form}: nothing was made where the link leads")
done()
