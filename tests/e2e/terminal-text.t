#!/usr/bin/python3
"""What pinfold says on stderr, and what ps shows, cannot drive the reader's terminal nor pass for a line of pinfold's, whatever
an image, a spec or another run is called."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

HOSTILE = {
    "an escape sequence": b"\x1b]52;c;aGk=\x07",
    "a C1 control as one byte": b"\x9b31m",
    "a C1 control in UTF-8": "\u009b31m".encode(),
    "text that turns around": "\u202eabc\u2066".encode(),
    "a line of ours": b"x\npinfold: exited",
    "a carriage return": b"x\rpinfold",
    "bytes that are no text": b"\xff\xfe\xed\xa0\x80\xc3",
    "a delete": b"a\x7f",
}
BAD = rb"[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]"
folder = tmpdir()
for name, text in HOSTILE.items():
    os.makedirs(os.path.join(folder.encode(), text, b"etc"))
    os.symlink("/x", os.path.join(folder.encode(), text, b"proc"))
    places = {
        "an image": [os.path.join(folder.encode(), text), "x"],
        "a missing image": [b"/nowhere/" + text, "x"],
        "a command": [tiny(), b"/bin/" + text],
        "an option": [b"--" + text, tiny(), "x"],
        "a value": [b"--memory=" + text, tiny(), "x"],
        "a working directory": [b"--workdir=/" + text, tiny(), "/bin/payload", "cwd"],
        "a file": [b"--stdin=/nowhere/" + text, tiny(), "/bin/payload", "cwd"],
        "a result": [b"--result=/nowhere/" + text + b"/x", tiny(), "/bin/payload", "cwd"],
        "a spec": [b"--spec=/nowhere/" + text, tiny(), "/bin/payload", "cwd"],
    }
    for place, args in places.items():
        run = pinfold("run", *args, result=place != "a result")
        good = run.code != 0 and run.out == b""
        lines = run.err.split(b"\n")
        try:
            run.err.decode("utf-8")
        except UnicodeDecodeError:
            good = False
        good = good and not re.search(BAD, run.err) and all(line.startswith(b"pinfold: ") for line in lines if line)
        good = good and not any(line.startswith(b"pinfold: exited") for line in lines)
        ok(good, f"{name} as {place}", run)
    os.makedirs(os.path.join(folder.encode(), b"good-" + text))
    run = pinfold("explain", b"--workdir=/" + text, b"--env=A=" + text, os.path.join(folder.encode(), b"good-" + text), b"/" + text, text)
    ok(run.out.startswith(b"command ") and not re.search(BAD, run.out) and b"\npinfold: exited" not in run.out, f"{name} in what explain prints", run)
    ok(run.code == 125 and not re.search(BAD, run.err), f"{name} in what explain says of it", run)
run = pinfold("run", tiny(), "/bin/größe-日本")
like(run.err.decode(), r"exec-failed", "other letters are no offence")

with start("run", "--id", "terminal-text", tiny(), "/bin/payload", "await", "10", ",", "echo", b"\x1b[31m\n\x9b\xff") as running:
    running.line()
    for args in ["ps"], ["ps", "--json"]:
        listing = pinfold(*args)
        ok(b"terminal-text" in listing.out and not set(listing.out) & {0x1b, 0x9b, 0xff}, f"{' '.join(args)} shows the words harmlessly", listing)
    running.signal(10)
    run = running.wait()
is_(run.out, b"waiting\ngot 10\n\x1b[31m\n\x9b\xff\n", "the program's own output is its own, byte for byte")
done()
