#!/usr/bin/python3
"""A tree that is being written when pinfold is killed leaves a folder under a name of its own, which the next run that
collects there takes away; that of a run that lives, and what only looks like one, stays."""
import fcntl
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

FILES = 15000
out = tmpdir()


def parts():
    return sorted(name for name in os.listdir(out) if name.endswith(".part"))


def writing():
    """A run that stands still while it writes a tree."""
    running = start("run", "--artifact", "t:type=tree", "--artifacts-dir", out, "@host", "sh", "-c",
                    f"mkdir t; cd t; i=0; while [ $i -lt {FILES} ]; do : > $i; i=$((i+1)); done")
    wait_for(parts, 100, "the tree's folder")
    running.signal(signal.SIGSTOP)
    return running


def other():
    return pinfold("run", "--artifact", "x", "--artifacts-dir", out, tiny(), "/bin/payload", "exit", "0")


with writing() as killed:
    is_(len(parts()), 1, "control: a tree is being written")
    killed.signal(signal.SIGKILL)
    killed.process.wait()
is_(len(parts()), 1, "killed meanwhile, its folder is still there")
folder = os.path.join(out, parts()[0])
run = pinfold("explain", "--artifact", "x", "--artifacts-dir", out, tiny(), "/bin/payload")
is_(len(parts()), 1, "explain changes nothing", run)
run = other()
is_((run.code, os.listdir(out)), (0, []), "the next run that collects there takes it away", run)

with writing() as living:
    run = other()
    is_((run.code, len(parts())), (0, 1), "that of a run that lives stays", run)
    living.signal(signal.SIGCONT)
    run = living.wait(100)
is_([row["status"] for row in run.result["artifacts"]], ["kept"], "and gets to be whole", run)
is_((os.listdir(out), len(os.listdir(os.path.join(out, "+t")))), (["+t"], FILES), "with all its files")

names = [".pinfold-1-1-0.part", ".pinfold-1-1-0.party", ".pinfold-x-1.part", ".pinfold-.part", "pinfold-1-1-0.part"]
out = tmpdir()
for name in names:
    os.makedirs(os.path.join(out, name, "in", "it"))
    owner = os.stat(out)
    for place, _, _ in os.walk(os.path.join(out, name)):
        os.chown(place, owner.st_uid, owner.st_gid)
os.symlink(names[1], os.path.join(out, ".pinfold-2-1-0.part"))
os.mkdir(os.path.join(out, ".pinfold-3-1-0.part"))
if os.geteuid() == 0:
    os.chown(os.path.join(out, ".pinfold-3-1-0.part"), 12345, 12345)
lock = os.open(os.path.join(out, ".pinfold-3-1-0.part"), os.O_RDONLY)
fcntl.flock(lock, fcntl.LOCK_EX)
run = other()
is_(sorted(os.listdir(out)), sorted([*names[1:], ".pinfold-2-1-0.part", ".pinfold-3-1-0.part"]), "names that only look so, links and what somebody has locked stay", run)
os.close(lock)
done()
