#!/usr/bin/python3
"""A caller with stdin, stdout or stderr closed, in any combination, gets the same run: no descriptor of ours
becomes the program's, and none of the program's bytes goes into a file of ours."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *


def close(which):
    def in_child():
        for fd in which:
            os.close(fd)
    return in_child


for bits in range(1, 8):
    which = [fd for fd in range(3) if bits >> fd & 1]
    name = "closed " + " ".join(map(str, which))
    for extra in ((), ("--stdin", "-")):
        run = pinfold("run", *extra, tiny(), "/bin/payload", "fds", ",", "spam", "stderr", "3", preexec_fn=close(which))
        is_((run.status, run.code), ("exited", 0), f"{name} {' '.join(extra)}: it runs", run)
        if 1 not in which:
            is_([int(line.split()[1]) for line in run.out.decode().splitlines()], [0, 1, 2],
                f"{name}: 0, 1 and 2, as ever")
        if 2 not in which:
            like(run.err, rb"^abc", f"{name}: stderr comes through")
        is_(run.result["output"]["stderr"]["bytes"], 3, f"{name}: stderr was relayed, wherever to", run)
    run = pinfold("run", "--stdin", "-", tiny(), "/bin/payload", "cat", preexec_fn=close([0]))
    is_((run.status, run.out), ("exited", b""), f"{name}: a closed stdin is an empty one", run)

# The result's own descriptor must not be one of the three either.
folder = tmpdir()
path = os.path.join(folder, "result.json")
run = pinfold("run", "--result", path, tiny(), "/bin/payload", "spam", "stdout", "100", result=False,
              preexec_fn=close([0, 1, 2]))
is_(run.code, 0, "all three closed, and a result")
with open(path, "rb") as file:
    unlike(file.read(), rb"abcdefgh", "the program's bytes are not in the result file")
done()
