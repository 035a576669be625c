#!/usr/bin/python3
"""The sandbox's mount table is an exact list with exact flags, private in both directions; /dev is an exact list."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))

# As root it runs in a mount namespace of its own, so that it may mount, with everything shared, as
# systemd leaves a host.
if os.geteuid() == 0 and "PINFOLD_TEST_PRIVATE" not in os.environ:
    os.environ["PINFOLD_TEST_PRIVATE"] = "1"
    os.execvp("unshare", ["unshare", "--mount", "--propagation", "slave", sys.executable, *sys.argv])

from pf import *

if os.geteuid() == 0:
    subprocess.run(["mount", "--make-rshared", "/"], check=True)

RO, WRITABLE, SEALED = {"ro", "nosuid", "nodev"}, {"rw", "nosuid", "nodev"}, {"ro", "nosuid", "nodev", "noexec"}
DEVICE = {"ro", "nosuid", "noexec"}
WANT = {
    "/": RO, "/proc": SEALED, "/sys": SEALED, "/dev": SEALED, "/dev/pts": {"rw", "nosuid", "noexec"},
    **{f"/dev/{name}": DEVICE for name in ("null", "zero", "full", "random", "urandom", "tty")},
    **{point: WRITABLE for point in ("/dev/shm", "/tmp", "/run", "/scratch")},
}
MAY = {"/sys/fs/cgroup": SEALED, "/etc": RO,
       **{f"/proc/{name}": SEALED for name in ("kallsyms", "keys", "key-users", "interrupts", "latency_stats")}}


def table(text):
    """{mount point: flags without atime's}, and what stands between options and type."""
    points, tags = {}, []
    for line in text.splitlines():
        left, right = line.split(" - ")
        fields = left.split()
        points[fields[4]] = {flag for flag in fields[5].split(",") if "atime" not in flag and flag != "idmapped"}
        tags += fields[6:]
    return points, tags


def check(name, tree, may):
    run = pinfold("run", tree, "/bin/cat", "/proc/self/mountinfo")
    is_((run.status, run.code), ("exited", 0), f"{name}: it runs", run)
    points, tags = table(run.out.decode())
    is_({point: points.get(point) for point in WANT}, WANT, f"{name}: what must be mounted, with its flags", run)
    extra = {point: flags for point, flags in points.items() if point not in WANT}
    is_({point: flags for point, flags in extra.items() if may.get(point) != flags}, {}, f"{name}: and nothing else", run)
    is_(tags, [], f"{name}: every mount is private", run)
    is_(len(points), len(run.out.splitlines()), f"{name}: nothing is mounted over twice", run)


overlay = busybox_image()
check("overlay", overlay, MAY)
names = {name: ("dir", 0o755) for name in ("proc", "sys", "dev", "tmp", "run", "scratch", "etc", "sub")}
files = {f"bin/{name}": ("link", "busybox") for name in ("sh", "cat", "ls", "grep", "mount")}
bound = image({**names, **files, "bin/busybox": ("copy", "/bin/busybox")})
check("bind", bound, MAY)

run = pinfold("run", overlay, "/bin/sh", "-c", "ls -A /dev; ls -A /dev/shm /run /tmp /scratch; ls -A /dev/pts")
is_(run.out.decode().split(), ["fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout", "tty", "urandom",
                               "zero", "/dev/shm:", "/run:", "/scratch:", "/tmp:", "ptmx"], "/dev is an exact list, the rest empty", run)

if os.geteuid() == 0:
    # A file system beneath the image, writable, is shown sealed by a bind and refused by an overlay.
    subprocess.run(["mount", "-t", "tmpfs", "-o", "rw,suid,dev,exec,mode=0777", "x", os.path.join(bound, "sub")], check=True)
    check("bind with a mount beneath", bound, {**MAY, "/sub": RO})
    below = os.path.join(overlay, "bin")
    subprocess.run(["mount", "--bind", below, below], check=True)
    run = pinfold("run", overlay, "/bin/true")
    is_((run.status, run.code), ("refused" if WHO == "root" else run.status, 125), "overlay with a mount beneath: refused", run)
    ok(below in run.message, "the message names the mount", run)
    subprocess.run(["umount", below], check=True)

    # Mounted on the host during a run: not seen inside.
    with start("run", "--stdin", "-", bound, "/bin/sh", "-c", "echo ready; read x; ls /sub/late; grep -c /late /proc/self/mountinfo; "
               "exit 0", stdin=subprocess.PIPE) as running:
        is_(running.line(), "ready", "a program that waits")
        os.mkdir(os.path.join(bound, "sub/late"))
        subprocess.run(["mount", "-t", "tmpfs", "x", os.path.join(bound, "sub/late")], check=True)
        open(os.path.join(bound, "sub/late/file"), "w", encoding="ascii").close()
        run = running.wait(stdin=b"go\n")
    is_((run.code, run.out), (0, b"ready\n0\n"), "what the host mounts later stays outside", run)
    subprocess.run(["umount", os.path.join(bound, "sub/late")], check=True)
    subprocess.run(["umount", os.path.join(bound, "sub")], check=True)
done()
