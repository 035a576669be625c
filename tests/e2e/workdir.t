#!/usr/bin/python3
"""The working directory is below the sandbox's root, or nothing starts: no descriptor of ours, no magic link and no
link of the image leads out of it."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from host import canary_folder
from pf import *

with canary_folder() as (canary, secret):
    tree = image({
        "bin/payload": ("copy", payload_path()),
        "work/here": ("dir", 0o755),
        "closed": ("dir", 0o700),
        "file": b"x",
        "link-in": ("link", "/work/here"),
        "link-up": ("link", "../../../../../.." + canary),
        "link-out": ("link", canary),
        "link-fd": ("link", "/proc/self/fd/5"),
        "link-cwd": ("link", "/proc/self/cwd"),
        "link-root": ("link", "/proc/1/root"),
        "dangling": ("link", "/nothing"),
    })

    def cwd(*args):
        run = pinfold("run", *args, tree, "/bin/payload", "cwd", ",", "open", "r", "secret")
        return run, run.out.decode().splitlines()

    for args, want in ((), "/scratch"), (("--workdir", "/work/here"), "/work/here"), (("--workdir", "/"), "/"), \
            (("--workdir", "/tmp/../work"), "/work"), (("--workdir", "/link-in"), "/work/here"):
        run, lines = cwd(*args)
        is_(lines, [f"cwd {want}", "open secret ENOENT"], f"{' '.join(args) or 'no --workdir'}: {want}", run)

    outside = ["/proc/self/fd/%d" % n for n in range(3, 21)]
    outside += ["/link-up", "/link-out", "/link-fd", "/link-cwd", "/link-root", "/dangling", "/proc/1/root", "/proc/1/cwd",
                "/proc/self/task/1/root", "/nothing", "/file", "/file/x", canary]
    for path in outside:
        run, lines = cwd("--workdir", path)
        is_((run.status, run.code, lines), ("refused", 125, []), f"--workdir {path} is refused", run)
        ok("working directory" in run.message and path[:20] in run.message, f"{path}: the message names it", run)

    run, lines = cwd("--workdir", "relative")
    is_((run.status, run.code), ("refused", 125), "a relative one is refused", run)
done()
