#!/usr/bin/python3
"""Nothing that is built has a privilege of its own: no set-id bit, no file capability; and what a run leaves on the host besides
its result is nothing."""
import os
import stat
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from host import tree
from pf import *

programs = [os.path.join(BUILD, "bin/pinfold")]
libexec = os.path.join(BUILD, "libexec/pinfold")
if os.path.isdir(libexec):
    programs += [os.path.join(libexec, name) for name in sorted(os.listdir(libexec))]
for path in programs:
    mode = os.stat(path).st_mode
    is_(mode & (stat.S_ISUID | stat.S_ISGID), 0, f"{os.path.basename(path)}: no set-id bit")
    is_("security.capability" in os.listxattr(path), False, f"{os.path.basename(path)}: no file capability")
    is_(mode & 0o022, 0, f"{os.path.basename(path)}: nobody else may write it")

home, work = tmpdir(), tmpdir()
before = tree(home), tree(work), tree(tiny())
for verbs in ["exit", "0"], ["signal", "11"], ["files", "10", "/tmp"], ["spam", "stdout", "1M"]:
    pinfold("run", tiny(), "/bin/payload", *verbs, env={"HOME": home, "TMPDIR": home, "XDG_CACHE_HOME": os.path.join(home, ".cache"),
                                                      "XDG_RUNTIME_DIR": home}, cwd=work)
is_((tree(home), tree(work), tree(tiny())), before, "no file in the home, the current folder or the image")
done()
