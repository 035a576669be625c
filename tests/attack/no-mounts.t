#!/usr/bin/python3
"""FS10, FS11: nothing can be mounted, unmounted or changed, and the cgroup tree is only to look at."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from attack import *
from pf import done, is_, like

tree = probe_image(targets=True)
old = ("tmpfs", "proc", "sysfs", "devpts", "overlay", "bind", "move", "remount-root", "remount-dev", "remount-proc", "shared",
       "umount-proc", "umount-dev", "pivot-root", "chroot", "userns")
attack({f"FS11.{name}": "EPERM" for name in old} |
       {f"FS11.{name}": "ENOSYS" for name in ("fsopen", "open-tree", "fspick", "mount-setattr")}, tree)

# EACCES where the file's owner is asked first, ENOENT where no cgroup of its own could be made.
controls = ("procs", "subtree-control", "max-depth", "memory-max", "pids-max", "kill", "release-agent")
attack({f"FS10.{name}": "EROFS|EACCES|ENOENT" for name in controls} | {"FS10.mkdir": "EROFS|ENOENT"} |
       {"FS10.mount-v2": "EPERM", "FS10.mount-v1": "EPERM"}, tree,
       # a hybrid host has no controller in v2, and a root cgroup has no cgroup.kill; mkdir is not tried on the host
       lacking=("FS10.memory-max", "FS10.pids-max", "FS10.kill", "FS10.release-agent", "FS10.mkdir", "FS10.mount-v1"))

run = do(tree, "cat", "/proc/self/cgroup")
if run.guarantee("kill")["by"] == "cgroup.kill":
    like(run.out, rb"^0::/$", "its cgroup is the root of what it sees")
run = do(tree, "list", "/sys/fs/cgroup")
unlike_parent = [name for name in run.out.decode().split() if name.startswith("pinfold-")]
is_(unlike_parent, [], "and no other run's is in sight")
done()
