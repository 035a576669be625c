#!/usr/bin/python3
"""TT04, TT06: the caller's files behind stdin, stdout and stderr cannot be reached, only read from and written to."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from attack import *
from pf import *

tree = probe_image()
names = [f"TT04.{name}.{fd}" for name in ("cut", "both", "write") for fd in "012"]
names += [f"TT06.{name}.{fd}" for name in ("seek", "cut", "chmod", "chown", "xattr", "times", "allocate", "map", "climb")
          for fd in "012"]
EARLIER = b"what was there before\n"


def files():
    folder = tmpdir()
    paths = [os.path.join(folder, name) for name in ("in", "out", "err")]
    for path in paths:
        with open(path, "wb") as file:
            file.write(EARLIER)
        if os.geteuid() == 0:
            os.chown(path, *OWNER)
    # An append-only log is the case that matters most.
    return paths, [open(paths[0], "rb"), open(paths[1], "ab"), open(paths[2], "ab")]


def state(path):
    info = os.stat(path)
    return oct(info.st_mode), info.st_uid, info.st_gid, info.st_nlink, os.listxattr(path)


paths, (stdin, stdout, stderr) = files()
before = [state(path) for path in paths]
weak(tree, [*names, "FS01.create-root"], stdin=stdin, stdout=stdout, stderr=stderr)
with open(paths[1], encoding="utf-8", errors="replace") as file:
    lines = [line.split() for line in file]
# The outcomes themselves may be gone: truncated by what was tried.
changed = [path for path, was in zip(paths, before) if state(path) != was] + [p for p in paths if os.path.getsize(p) == 0]
ok(len(changed) >= 3, "control: unconfined, the caller's files are changed", changed)

for way in ("inherited", "by name"):
    paths, (stdin, stdout, stderr) = files()
    before = [state(path) for path in paths]
    with unharmed(way):
        if way == "inherited":
            flags, options = ["--stdin", "-"], {"stdin": stdin, "stdout": stdout, "stderr": stderr}
        else:
            flags, options = ["--stdin", paths[0], "--stdout", paths[1], "--stderr", paths[2]], {}
        _, run = strong(tree, names, flags, **options)
    is_(run.status, "exited", f"{way}: it runs", run)
    with open(paths[1], "rb") as file:
        said = file.read()
    keeps = EARLIER if way == "inherited" else b""
    ok(said.startswith(keeps + b"TT04.cut.0 "), f"{way}: what was there stays, what is said is appended", said[:200])
    outcomes = [line.split() for line in said[len(keeps):].decode().splitlines()]
    is_([row for row in outcomes if row[1] != "blocked"], [], f"{way}: no attempt reaches a file of the caller's")
    is_(len(outcomes), len(names), f"{way}: all were tried")
    is_([state(path) for path in paths], before, f"{way}: modes, owners, attributes and links are as they were")
    with open(paths[0], "rb") as file:
        is_(file.read(), EARLIER, f"{way}: the input is as it was")
done()
