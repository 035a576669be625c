"""What the tests inside a guest share, on top of tests/lib: the eating image, and where cgroups may be made."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../lib")))
from pf import *  # noqa: E402,F403
import pf  # noqa: E402

KIB, MIB = 1 << 10, 1 << 20
AS, BOOT = os.environ["PINFOLD_VM_AS"], os.environ["PINFOLD_VM_BOOT"]
DISK = os.environ.get("PINFOLD_VM_DISK")
CGROUP = "/sys/fs/cgroup"

# The kernel charges in batches of 64 pages a cpu and gives them back only when it is short: a
# peak may stay below the limit by so much, and can never be above.
BATCH = 2 * 64 * 4 * KIB

_eater = None


def eater(folder=None):
    """An image with /bin/eat and the applets of busybox; where no folder is given, one for the whole script."""
    global _eater
    if _eater and not folder:
        return _eater
    applets = subprocess.run(["/bin/busybox", "--list"], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    files = {f"bin/{name}": ("link", "busybox") for name in applets if name != "busybox"}
    files["bin/busybox"] = ("copy", "/bin/busybox")
    files["bin/eat"] = ("copy", os.path.join(pf.ROOT, "build/tests/eat"))
    tree = image(files, folder)
    if not folder:
        _eater = tree
    return tree


def disk_folder(name):
    """A fresh folder on the ext4 disk."""
    path = os.path.join(DISK, f"of-{AS}", name)
    os.mkdir(path)
    return path


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def write(text, *path):
    with open(os.path.join(*path), "w", encoding="utf-8") as file:
        file.write(text)


def keyed(text):
    """A flat keyed file of cgroupfs as {name: number}."""
    return {name: int(number) for name, number in (line.split() for line in text.splitlines())}


def own_subtree():
    """A cgroup in which this user may make cgroups with every controller, or None: under systemd that takes a
    scope, which is pinfold's own business there."""
    if BOOT == "plain" and AS == "root":
        return CGROUP
    if BOOT == "plain" and AS == "delegated":
        return os.path.join(CGROUP, "delegated")
    return None


def leaves():
    """Every cgroup of ours, empty or not: in a guest nobody else runs any."""
    return [os.path.join(folder, name) for folder, names, _ in os.walk(CGROUP)
            for name in names if name.startswith("pinfold-")]


class Group:
    """A cgroup below own_subtree() with the given controllers for its children; removed at the end."""

    def __init__(self, name, controllers="memory pids cpu io"):
        self.path = os.path.join(own_subtree(), name)
        wanted = " ".join("+" + c for c in controllers.split())
        write("+memory +pids +cpu +io", own_subtree(), "cgroup.subtree_control")
        os.mkdir(self.path)
        write(wanted, self.path, "cgroup.subtree_control")

    def __enter__(self):
        return self.path

    def __exit__(self, *exc):
        wait_for(lambda: not keyed(read(self.path, "cgroup.events"))["populated"], what=f"{self.path} empty")
        os.rmdir(self.path)


def killed_at(run, limit, name):
    """Points: the run was ended by its own memory limit, at exactly that limit, and the evidence is there."""
    is_(run.status, "oom", f"{name}: status", str(run))
    is_((run.code, run.result["cause"]["limit"]), (137, "memory"), f"{name}: exit code and limit")
    ok(run.evidence.get("memory.events.oom_group_kill", 0) > 0, f"{name}: the whole sandbox was killed at once", str(run))
    within(run.result["usage"]["memory_peak_bytes"], limit - BATCH, limit, f"{name}: at the limit, not before, not after")
