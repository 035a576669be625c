#!/usr/bin/python3
"""build-debian tells what mmdebstrap is at: a line a step, on a terminal one line that is written over, as events with --json. What
it complains of is passed on, escaped, and a failure is one. mmdebstrap itself is played: its words are those of the real one."""
import fcntl
import json
import os
import pty
import struct
import sys
import termios

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

PLAYED = r"""#!/bin/sh
[ "$(readlink /proc/self/fd/0)" = /dev/null ] || exit 9
echo 'I: automatically chosen mode: root' >&2
echo 'I: running apt-get update...' >&2
echo done >&2
printf 'I: installing essential packages...\nW: it \033[31mwarns\n' >&2
case "$*" in *broken*) echo 'E: Unable to locate package broken' >&2; exit 25 ;; esac
head -c 5000 /dev/zero | tr '\0' x >&2
cat %s
# Who holds the pipe on is not waited for.
(trap '' TERM; exec sleep 300 >/dev/null </dev/null) & echo $! >%s
"""

if os.geteuid() != 0:
    skip_all("a program of its own at /usr/bin/mmdebstrap needs root")
if not os.path.exists("/usr/bin/mmdebstrap"):
    skip_all("mmdebstrap is not there")
folder, tree = tmpdir(mode=0o777), tmpdir()
os.mkdir(os.path.join(tree, "etc"))
archive, played, left = (os.path.join(folder, name) for name in ("tar", "mmdebstrap", "left"))
os.system(f"tar -C {tree} -cf {archive} etc")
with open(played, "w") as file:
    file.write(PLAYED % (archive, left))
os.chmod(played, 0o755)
env = {"PINFOLD_STORE": os.path.join(tmpdir(), "store")}
within = ["unshare", "-m", "--propagation", "private", "sh", "-c", f"mount --bind {played} /usr/bin/mmdebstrap && exec \"$@\"", "sh"]


def build(*words, **options):
    run = pinfold("image", "build-debian", *words, within=within, env=env, result=False, **options)
    try:
        with open(left) as file:
            os.kill(int(file.read()), 9)
        os.unlink(left)
    except FileNotFoundError:
        pass
    return run


run = build("x")
is_(run.code, 0, "an image is made", run)
lines = run.err.decode().splitlines()
is_(lines[:3], ["running apt-get update", "installing essential packages", r"pinfold: mmdebstrap: W: it \x1b[31mwarns"], "a line for each step, and what it complains of, escaped", run)
run = build("--packages", "broken", "y")
ok(run.code == 125 and "pinfold: mmdebstrap: E: Unable to locate package broken" in run.err.decode(), "a failure has its reason", run)
like(run.err.decode(), r"\npinfold: image build-debian: mmdebstrap failed \(25\); why is said above\n$", "and is one")
run = build("--json", "z")
events = [json.loads(line) for line in run.out.splitlines()]
is_([(e["event"], e.get("what")) for e in events][:4], [("begin", "running apt-get update"), ("end", "running apt-get update"),
    ("begin", "installing essential packages"), ("end", "installing essential packages")], "--json has the steps", run)
ok(b"running" not in run.err, "and they are not told twice", run)

master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 20, 0, 0))
run = build("t", stderr=slave)
os.close(slave)
said = b""
try:
    while True:
        said += os.read(master, 65536)
except OSError:  # its end
    pass
ok(run.code == 0 and b"mmdebstrap: W: it" in said, "on a terminal too", said.decode())
ok(b"installing essential packages\r" not in said and b"\r\x1b[K" in said, "the line is written over", repr(said[:400]))
wide = [piece for piece in said.split(b"\r\x1b[K") if len(piece.split(b"\r\n")[0]) > 19 and not piece.startswith(b"pinfold: ")]
is_(wide, [], "and fits the terminal")
done()
