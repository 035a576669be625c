#!/usr/bin/python3
"""What git says of the commit that it fetched is held to: another than the one that was asked for, or none at all, and nothing runs. The git is a script that an image has."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from jobs import Jobs, stage
from pf import *

jobs = Jobs()
ONE, OTHER = "1" * 40, "2" * 40


def fetch(says, ref=None):
    """A job whose git says that, and has a file for a tree."""
    git = '#!/bin/sh\ncase "$*" in\n*checkout*) echo content > f;;\n*rev-parse*) printf \'' + says + "';;\nesac\n"
    tree = image({"bin/busybox": ("copy", "/bin/busybox"), **{f"bin/{name}": ("link", "busybox") for name in ("sh", "cat", "rm", "mkdir", "printf", "find")}, "bin/git": git.encode()})
    return jobs.run({"image": tree, "source": {"git": "https://git.example/a.git", **({"ref": ref} if ref else {})}, "analyse": "none",
                     "stages": [stage("show", "cat", "/run/input/source/f", inputs={"read-only": ["@source"]})]})


for says, ref, what in ((ONE + "\\n", ONE, "the commit that was asked for"), (ONE + "\\n", "main", "one, of a branch"), ("a" * 40 + "\\n", "A" * 40, "the commit, whatever the case of the letters")):
    job = fetch(says, ref)
    is_((job.status, job.result["source"]["commit"], job.out), ("succeeded", says[:40], b"content\n"), f"{what}: it is taken", job)
job = fetch(OTHER + "\\n", ONE)
is_((job.status, job.result["cause"]["stage"], job.result["source"]["commit"], job.stage("show")["state"]), ("failed", "fetch", None, "skipped"), "another commit than the one that was asked for: nothing runs", job)
ok("not the one that was asked for" in job.message, "and why", job)
for says, what in (("", "nothing"), ("\\n" + ONE, "an empty line first"), ("1" * 39 + "\\n", "too short"), ("1" * 41 + "\\n", "too long"), ("1" * 63 + "\\n", "neither length"), ("g" * 40 + "\\n", "no digits"),
                   (" " + ONE + "\\n", "a blank in front"), ("\\033[31m" + ONE + "\\n", "a terminal sequence"), ("refs/heads/main\\n", "a name"), (ONE + " more\\n", "words behind it")):
    job = fetch(says)
    is_((job.status, job.result["cause"]["stage"], job.result["source"]["commit"], job.stage("show")["state"]), ("failed", "fetch", None, "skipped"), f"{what}: nothing runs", job)
    ok("did not say which commit" in job.message, "and why", job)
is_(jobs.leavings(), [], "nothing is left")
done()
