#!/usr/bin/python3
"""FS18, FS19, FS20: the one writable place holds what it is said to hold, whatever is put there and however."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from attack import *
from pf import *

tree = probe_image()
small = ["--scratch", "1M", "--scratch-inodes", "64", "--memory", "64M"]
with unharmed("a full scratch"):
    attack({"FS18.bytes": "ENOSPC", "FS18.tmp": "ENOSPC", "FS18.shm": "ENOSPC", "FS18.run": "ENOSPC", "FS18.allocate": "ENOSPC"},
           tree, small, {"COUNT": "2048"}, title="2 MiB in 1 MiB: ")
    attack({"FS18.inodes": "ENOSPC"}, tree, small, {"COUNT": "70"}, title="70 files for 64 inodes: ")
    # Attributes are charged to the inodes of a tmpfs that has them at all (6.6).
    attack({"FS18.attributes": "ENOSPC|EOPNOTSUPP"}, tree, small, {"COUNT": "400"}, title="400 KiB of attributes: ",
           lacking=("FS18.attributes",))

# What fits just below is accepted, so that the refusals mean the limit.
outcomes, run = strong(tree, ["FS18.bytes"], small, {"COUNT": "900"})
is_(outcomes, {"FS18.bytes": ("reached", "0")}, "900 KiB fit", run)
outcomes, run = strong(tree, ["FS18.inodes"], small, {"COUNT": "60"})
is_(outcomes, {"FS18.inodes": ("reached", "0")}, "60 files fit", run)

# Paths longer than PATH_MAX: 50,000 folders of 255 bytes each. Nobody walks them.
with unharmed("a deep tree"):
    run = do(tree, "deep", "50000", flags=["--scratch-inodes", "60000"])
is_((run.status, run.out), ("exited", b"50000\n"), "a tree of 50,000 levels is made, and does not hold up the end", run)

# What it leaves there is of no use outside.
folder = tmpdir()
with open(os.path.join(folder, "canary"), "w", encoding="ascii") as file:
    file.write("canary")
with unharmed("traps in the scratch", folder):
    run = do(tree, "traps", folder)
is_(run.status, "exited", "folders without permissions, links to the host, a FIFO and a socket are left behind", run)
done()
