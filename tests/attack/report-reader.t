#!/usr/bin/python3
"""A reader of `pinfold report` that was taken over: it gets no file, no network, no process, and no markup onto the page that would run or load."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
import pf
from pf import *

hostile = staged(os.path.join(BUILD, "tests/attack/hostile-report"))
control = staged(os.path.join(BUILD, "tests/attack/hostile-report-control"))
work = tmpdir()
folder = tmpdir()


def run(*argv):
    return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=work, env=pf._environment(WHO), check=False, **pf._credentials(WHO))


def page(what, *more):
    path = os.path.join(work, "r.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schema": "pinfold.result/1", "status": "exited", "id": what}, file)
    os.chmod(path, 0o644)
    return run(hostile, path, *more)


for what in "open", "write", "socket", "fork", "environment", "pid":
    is_(run(control, what).stdout, b"got\n", f"control: {what} works unconfined")
    for more in (), ("--artifacts-dir", folder):
        made = page(what, *more)
        # What the filter ends is no page either.
        ok(b"<p>not</p>" in made.stdout if made.returncode == 0 else b"ended by its filter" in made.stderr and made.stdout == b"",
           f"{what}: the reader does not get it{' where it has a folder' if more else ''}", f"{made.returncode} {made.stderr!r} {made.stdout[-300:]!r}")
is_(os.listdir(folder), [], "nothing was planted")
good = page("good")
ok(good.returncode == 0 and b'<p class="x">fine</p>' in good.stdout, "control: a body of known markup becomes a page", good.stderr)
ok(b"<script" not in good.stdout and b"&#60;script&#62;x()" in good.stdout, "a title is text, whatever it is")
for what in ("script", "handler", "style-element", "style", "far-image", "svg-image", "refresh", "frame", "form", "link", "end", "comment", "cut", "nul"):
    made = page(what)
    is_((made.returncode, made.stdout), (125, b""), f"{what}: no page")
    ok(b"no page of ours" in made.stderr, "and it is said", made.stderr)
done()
