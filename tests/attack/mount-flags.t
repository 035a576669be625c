#!/usr/bin/python3
"""FS12, FS13, FS21: every mount has its flags, also what is mounted in the image; nothing propagates; /dev is an exact list."""
import os
import ctypes
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from attack import *
from pf import *

DEVICES = {"null", "zero", "full", "random", "urandom", "tty"}
WRITABLE = {"/tmp", "/run", "/scratch", "/dev/shm"}
TARGETS = {name: ("dir", 0o755) for name in ("proc", "sys", "tmp", "run", "scratch")}


def mountinfo(text):
    """[(mount point, options, tags, type, root)] of a mountinfo."""
    rows = []
    for line in text.decode().splitlines():
        left, right = line.split(" - ")
        fields = left.split()
        rows.append((fields[4], set(fields[5].split(",")), fields[6:], right.split()[0], fields[3]))
    return rows


def wrong(rows):
    found = []
    for point, options, tags, kind, _ in rows:
        device = point.startswith("/dev/") and point[5:] in DEVICES
        want = {"nosuid"}
        if not device and point != "/dev/pts":
            want.add("nodev")
        if device or point in ("/proc", "/sys", "/dev", "/dev/pts"):
            want.add("noexec")
        if point not in WRITABLE and point != "/dev/pts" and not device:
            want.add("ro")
        if not want <= options or tags:
            found.append((point, kind, sorted(options), tags))
    return found


def look(name, tree, *flags):
    run = pinfold("run", *flags, tree, "/bin/probe" if tree != "@host" else "/bin/cat", *(
        ("do", "cat") if tree != "@host" else ()), "/proc/self/mountinfo")
    rows = mountinfo(run.out)
    is_(wrong(rows), [], f"{name}: every mount has its flags, none propagates", run)
    points = [row[0] for row in rows]
    is_(sorted(p for p in set(points) if points.count(p) > 1), [], f"{name}: no place is mounted over twice")
    is_({p[5:] for p in points if p.startswith("/dev/")} - DEVICES, {"pts", "shm"}, f"{name}: in /dev are six devices, pts and shm")
    return rows


overlaid, bound = probe_image(), probe_image(targets=True)
look("a skeleton over the image", overlaid)
look("the image bound", bound)
look("@host", "@host")
look("--tty", overlaid, "--tty")

# ---- the image has file systems mounted in it, and the host's mounts propagate ----
if os.geteuid() != 0:
    skip("needs root: mounting in the image", "what is mounted in the image")
else:
    if ctypes.CDLL(None).unshare(0x00020000) != 0:
        raise OSError("unshare")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    subprocess.run(["mount", "--bind", bound, bound], check=True)
    subprocess.run(["mount", "--make-shared", bound], check=True)
    for name in ("inner", "later"):
        os.makedirs(os.path.join(bound, "data", name), exist_ok=True)
    inner = os.path.join(bound, "data/inner")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=1777,dev,suid,exec", "inner", inner], check=True)
    os.makedirs(os.path.join(inner, "deep"))
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=1777", "deep", os.path.join(inner, "deep")], check=True)
    rows = look("mounts in the image", bound)
    is_([row[0] for row in rows if row[0].startswith("/data/")], ["/data/inner", "/data/inner/deep"], "they are there")
    for path in ("/data/inner/x", "/data/inner/deep/x"):
        run = do(bound, "create", path)
        is_(run.out, b"EROFS\n", f"{path} cannot be made: read-only all the way down", run)

    _, flags = mark_flags()
    with start("run", *flags, "--stdin", "-", bound, "/bin/probe", "do", "list-later", "/data/later",
               stdin=subprocess.PIPE) as running:
        os.set_blocking(running.process.stdout.fileno(), True)
        is_(running.process.stdout.readline(), b"ready\n", "a run that waits")
        later = os.path.join(bound, "data/later")
        subprocess.run(["mount", "-t", "tmpfs", "later", later], check=True)
        with open(os.path.join(later, "seen"), "w", encoding="ascii"):
            pass
        run = running.wait(stdin=b"\n")
    unlike(run.out, b"seen", "what the host mounts meanwhile is not seen inside")
    is_(os.listdir(later), ["seen"], "control: the host sees it")
    for place in (later, os.path.join(inner, "deep"), inner, bound):
        subprocess.run(["umount", place], check=True)

    # What the host forbids on the image's mount, an overlay over it must not allow: it is a mount of its own.
    for name, content in (("overlay", {}), ("bind", TARGETS | {"etc/passwd": b""})):
        tree = image({})
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "image", tree], check=True)
        probe = ("copy", PROBE)
        image({"bin/probe": probe, "etc/probe": probe, "dev": ("dir", 0o755), "data/link": ("link", "../bin")} | content, tree)
        for flag in "noatime", "nodiratime", "nosymfollow":
            options = ["noatime", "nodiratime"] if flag == "nodiratime" else [flag]
            subprocess.run(["mount", "-o", ",".join(["remount", "bind", "nosuid", "nodev", *options]), tree], check=True)
            rows = {row[0]: row[1] for row in look(f"{name} of an image with {flag}", tree)}
            for point in ["/", "/etc"] if name == "bind" else ["/"]:
                ok(set(options) <= rows[point], f"{name}, {point}: {flag} is kept", str(rows[point]))
        run = do(tree, "list", "/data/link")
        is_(run.out, b"/data/link: ELOOP\n", f"{name}: with nosymfollow no link of the image's is followed", run)
        for path in "/bin/probe", "/etc/probe":
            is_(pinfold("run", tree, path, "do", "list", "/bin").code, 0, f"{name}: {path} runs")
        subprocess.run(["mount", "-o", "remount,bind,noexec,nosuid,nodev", tree], check=True)
        for path in "/bin/probe", "/etc/probe":
            try:
                subprocess.run([tree + path], check=False)
                ok(False, f"control: {path} does not run on a noexec mount")
            except PermissionError:
                ok(True, f"control: {path} does not run on a noexec mount")
            run = pinfold("run", tree, path, "do", "list", "/bin")
            is_((run.status, run.code, run.out), ("exec-failed", 126, b""), f"{name}: nor does it inside", run)
            like(run.message, r"noexec", f"{name}: and the message says why")
        subprocess.run(["umount", tree], check=True)

# ---- /dev ----
run = do(overlaid, "list", "/dev", "/dev/pts", "/dev/shm")
is_(sorted(run.out.decode().split()),
    sorted([*DEVICES, "fd", "stdin", "stdout", "stderr", "ptmx", "pts", "shm", "ptmx"]), "/dev is an exact list", run)
with open("/dev/shm/pinfold-test.canary", "w", encoding="ascii"):
    pass
mark, flags = mark_flags()
with start("run", *flags, "--env", "COUNT=1", overlaid, "/bin/probe", "do", "after", "FS18.shm", "sleep") as other:
    is_(other.process.stdout.readline(), b"FS18.shm reached 0\n", "another run has something in its /dev/shm")
    run = do(overlaid, "list", "/dev/shm", "/tmp", "/run", "/scratch")
    is_(run.out, b"", "this run sees neither that nor the host's")
    other.signal(15)
    other.wait()
os.unlink("/dev/shm/pinfold-test.canary")
done()
