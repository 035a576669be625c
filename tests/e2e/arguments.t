#!/usr/bin/python3
"""The command's words reach the program as they are, whatever they look like; what the kernel cannot take is refused with
the figures, and thousands of rules in a spec are no matter."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

words = ["--bind", "-x", "", "--", "--memory", "1", "-", " ", "a b", "\n", "'\"$(id)`;|&", "%s%n", "\x1b[31m", "\u202e", b"\xff\xfe\x80",
         "--result=/etc/passwd", "--help", "image", "\\", "*", "~"]
run = pinfold("run", tiny(), "/bin/payload", "argv", *words)
want = b"".join(b"%d %d %s\n" % (i, len(w), w) for i, w in enumerate(w if isinstance(w, bytes) else w.encode() for w in words))
is_((run.status, run.out), ("exited", want), "every word as it is", run)
run = pinfold("run", tiny(), "--", "/bin/payload", "argv", "--", "-x")
is_(run.out, b"0 2 --\n1 2 -x\n", "a -- behind the image is ours, the next one the program's", run)
run = pinfold("run", "--", tiny(), "/bin/payload", "argv", "x")
is_(run.out, b"0 1 x\n", "-- ends our options", run)
run = pinfold("run", tiny(), "", "x")
is_((run.status, run.code), ("refused", 125), "an empty command is refused", run)

# MAX_ARG_STRLEN is 131072, the NUL counted; see execve(2).
longest = "x" * 131071
run = pinfold("run", tiny(), "/bin/payload", "argv", longest[:130048], longest[:130048])
is_(run.status, "exited", "two words of 127 KiB", run.status)
spec = os.path.join(tmpdir(), "spec.json")


def by_spec(document):
    with open(spec, "w", encoding="utf-8") as file:
        json.dump(document, file)
    return pinfold("run", "--spec", spec)


run = by_spec({"image": tiny(), "command": ["/bin/payload", "argv", longest]})
is_((run.status, run.out[:9]), ("exited", b"0 131071 "), "the longest word that the kernel takes", run.status)
run = by_spec({"image": tiny(), "command": ["/bin/payload", "argv", longest + "x"]})
is_((run.status, run.code), ("refused", 125), "one byte more is refused", run.status)
like(run.message, r"too long \(13107[23] bytes; the kernel takes 13107[12]\)", "with the figures")
run = by_spec({"image": tiny(), "command": ["/bin/payload", "argv"], "env": ["A=" + "x" * (129 << 10)]})
is_((run.status, run.code), ("refused", 125), "a variable of 129 KiB is refused", run.status)
like(run.message, r"too long", "with the reason")
run = by_spec({"image": tiny(), "command": ["/bin/payload", "env"], "env": [f"V{i}={'y' * 100}" for i in range(20000)]})
is_((run.status, run.code), ("exited", 0), "20,000 variables, 2 MiB of environment", run.message)
ok(b"V19999=yy" in run.out and run.out.count(b"\n") >= 20000, "all of them arrive")
run = by_spec({"image": tiny(), "command": ["/bin/payload", "argv", *["z"] * 9000]})
is_((run.status, run.out.count(b"\n")), ("exited", 9000), "9,000 words", run.message)
done()
