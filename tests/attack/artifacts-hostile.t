#!/usr/bin/python3
"""Hostile scratches: links to the host, FIFOs, floods of names, depth, holes, names that drive terminals, swaps while it
is collected, and an artifacts folder prepared against its owner. Each with a control that shows the attempt would work."""
import os
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

SECRET = b"the host's secret\n"
secret = os.path.join(tmpdir(), "secret")
with open(secret, "wb") as file:
    file.write(SECRET)


def collect(rules, script, options=(), image="@host", out=None):
    out = out or os.path.join(tmpdir(), "out")
    flags = [word for rule in rules for word in ("--artifact", rule)]
    run = pinfold("run", *options, *flags, "--artifacts-dir", out, image, "sh", "-c", script)
    return run, {str(row["path"]): row for row in run.result["artifacts"]}, out


def stored(out):
    return {name: open(os.path.join(out, name), "rb").read() for name in os.listdir(out)}


# ---- AR01, AR02: links ----
# The control: a collector that opens names as cp does reads the secret through them.
control = tmpdir()
os.symlink(secret, os.path.join(control, "leaf"))
os.symlink(os.path.dirname(secret), os.path.join(control, "dir"))
is_([open(os.path.join(control, name), "rb").read() for name in ("leaf", "dir/secret")], [SECRET] * 2, "control: the links lead to the secret")
run, rows, out = collect(["leaf", "dir/secret", "d*/secret", "proc", "up/secret"],
                            f"ln -s {secret} leaf; ln -s {os.path.dirname(secret)} dir; ln -s /proc/self/root{secret} proc; ln -s ../../../../../{os.path.dirname(secret)} up")
is_(stored(out), {}, "no link is followed", run)
ok(all("symbolic link" in row["reason"] for row in run.result["artifacts"]), "and each is said to be one", str(run.result["artifacts"]))

# ---- AR04: what blocks or is no file ----
control = os.path.join(tmpdir(), "fifo")
os.mkfifo(control)
try:
    subprocess.run(["cat", control], timeout=1, check=False)
    hung = False
except subprocess.TimeoutExpired:
    hung = True
ok(hung, "control: a FIFO without a writer blocks who opens it")
run, rows, out = collect(["*"], "mkfifo fifo; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")'; mkdir dir; ln -s /dev/zero zero; echo x > file")
is_({path: row["status"] for path, row in rows.items()}, {"fifo": "rejected", "sock": "rejected", "dir": "rejected", "zero": "rejected", "file": "kept"}, "FIFO, socket, folder, device", run)
ok(rows["fifo"]["reason"] == "it is a FIFO" and rows["sock"]["reason"] == "it is a socket", "each by its name")

# ---- AR03: nothing of the run is alive to swap anything ----
SWAP = ("import os\n"
        "open('a', 'w').write('file\\n'); os.symlink(%r, 'b')\n"
        "for _ in range(3):\n"
        "    if os.fork() == 0:\n"
        "        os.setsid(); [os.close(n) for n in range(3)]\n"
        "        while True:\n"
        "            os.rename('a', 'c'); os.rename('b', 'a'); os.rename('c', 'b')\n") % secret
control = tmpdir()
with open(os.path.join(control, "secret"), "wb") as file:
    file.write(SECRET)
swapper = subprocess.Popen(["python3", "-c", SWAP.replace("os.fork() == 0", "_ == 0").replace("os.setsid(); ", "")], cwd=control, stdin=subprocess.DEVNULL)
seen = set()
deadline = time.monotonic() + 60
while seen != {SECRET, b"file\n"} and time.monotonic() < deadline:
    try:
        seen |= {open(os.path.join(control, "a"), "rb").read()} - {b""}  # made, and not written yet
    except OSError:
        pass
swapper.kill()
swapper.wait()
is_(seen, {SECRET, b"file\n"}, "control: while it is swapped the name gives both")
bad = 0
for _ in range(10):
    run, rows, out = collect(["a", "b", "c"], f"python3 -c \"{SWAP}\"; exit 0")
    bad += any(data != b"file\n" for data in stored(out).values()) or run.status != "exited"
is_(bad, 0, "ten runs with swappers in the background: the file at most, never the secret")

# ---- AR05: holes ----
run, rows, out = collect(["hole:max=1T", "exa:max=8796093022208"], "truncate -s 9223372036854775807 exa; truncate -s 20G hole")
is_([(row["status"], row["file"]) for row in rows.values()], [("rejected", None)] * 2, "holes of 20 GiB and 8 EiB are refused by apparent size, without reading them", run)

# ---- AR07: many and deep ----
FLOOD = "import os\nfor n in range(60000): os.symlink('x', f'l{n}')\nopen('zz', 'w').write('kept')"
run, rows, out = collect(["*", "zz:required"], f"python3 -c \"{FLOOD}\"", ["--scratch-inodes", "100000", "--wall", "120s"])
is_((len(run.result["artifacts"]), run.result["artifacts_more"], rows["zz"]["status"], run.result["ok"]), (513, 60000 - 512, "kept", True),
    "60,000 links: 512 rows, the rest counted, and the file beside them is kept", run)
run, rows, out = collect(["/".join(["*"] * 64)], "i=0; while [ $i -lt 300 ]; do mkdir d && cd d && i=$((i+1)) || exit; done")
is_([row["reason"] for row in rows.values()], ["it is a folder"], "deeper than any pattern", run)
run, rows, out = collect(["a*" * 60 + "b"], f"touch {'a' * 250}")
ok([row["status"] for row in rows.values()] == ["rejected"], "a pattern that makes others backtrack for ever", run)
run, rows, out = collect(["f*"], "i=0; while [ $i -lt 1100 ]; do echo $i > f$i; i=$((i+1)); done")
kept = [row for row in run.result["artifacts"] if row["status"] == "kept"]
is_((len(kept), len(stored(out))), (1024, 1024), "1,100 files: 1024 are kept", run)
run = pinfold("run", "--artifact", "*", "--artifacts-dir", os.path.join(tmpdir(), "o"), "@host", "sh", "-c", "i=0; while [ $i -lt 1100 ]; do echo $i > f$i; i=$((i+1)); done",
              events=True)
is_((run.events[-1]["event"], len(run.events[-1].get("result", {}).get("artifacts", [])), run.result["warnings"]), ("ended", 1100, []), "and the last event has all rows")

# ---- AR08: names ----
NAMES = r"""printf x > "$(printf 'a\033[2Jb')"; printf y > "$(printf 'new\nline')"; printf z > "$(printf '\377')"; printf w > ./-rf; printf v > '..x'; printf u > '%2Drf'; printf t > 'a+b'; mkdir a; printf s > a/b"""
run, rows, out = collect(["?*", "a/b", "..x", "[!a]*"], NAMES)
names = sorted(stored(out))
is_(names, ["%252Drf", "%2Drf", "%2E.x", "%FF", "a%1B%5B2Jb", "a%2Bb", "a+b", "new%0Aline"], "no stored name is anything but letters and what stands for the rest", run)
ok(b"\x1b" not in run.err + run.out, "and nothing of them reaches a terminal")
ok(any(isinstance(row["path"], dict) for row in run.result["artifacts"]), "bytes that are no text come as base64")

# ---- AR09: a folder prepared by an earlier run ----
target = os.path.join(tmpdir(), "target")
control = tmpdir()
os.symlink(target, os.path.join(control, "file"))
with open(os.path.join(control, "file"), "w", encoding="ascii") as file:
    file.write("x")
ok(os.path.exists(target), "control: who writes to the name writes through the link")
os.unlink(target)
out = tmpdir()
os.symlink(target, os.path.join(out, "file"))
os.mkfifo(os.path.join(out, "pipe"))
run, rows, _ = collect(["file", "pipe"], "echo x > file; echo x > pipe", out=out)
is_(([row["status"] for row in rows.values()], os.path.exists(target)), (["rejected"] * 2, False), "links and FIFOs in the folder are left alone", run)

# A disk that is full: what does not fit is said to be, what fits is whole.
small = os.path.join(tmpdir(), "small")
os.mkdir(small)
os.chmod(small, 0o777)
mounted = ["unshare", "-m" if os.geteuid() == 0 else "-rm", "--propagation", "private", "sh", "-c",
           f'mount -t tmpfs -o size=1m,mode=777 small {small} && "$@"; code=$?; ls -A {small}; wc -c {small}/a-first {small}/z-last; exit $code', "sh"]
run = pinfold("run", "--artifact", "a-first", "--artifact", "large:required", "--artifact", "z-last", "--artifacts-dir", small, "@host", "sh", "-c",
              "echo 1 > a-first; head -c 4000000 /dev/zero | tr '\\0' x > large; echo 2 > z-last", within=mounted)
rows = {row["path"]: row for row in run.result["artifacts"]}
is_(({name: row["status"] for name, row in rows.items()}, run.result["ok"], run.status), ({"a-first": "kept", "large": "rejected", "z-last": "kept"}, False, "exited"),
    "a full disk rejects what does not fit", run)
ok("No space left" in rows["large"]["reason"] and run.out.split()[:2] == [b"a-first", b"z-last"], "by its name, and leaves nothing of it", run)

# ---- AR11: no name of the sandbox's reaches chmod or chown ----
if not shutil.which("strace"):
    skip(1, "no strace")
else:
    trace = os.path.join(tmpdir(), "trace")
    run = pinfold("run", "--artifact", "f", "--artifacts-dir", os.path.join(tmpdir(), "o"), "@host", "sh", "-c", "echo x > f",
                  within=["strace", "-f", "-o", trace, "-e", "trace=chmod,fchmodat,chown,lchown,fchownat"])
    text = open(trace, encoding="utf-8", errors="replace").read() if os.path.exists(trace) else ""
    ok(" +++ exited" in text and '"f"' not in text, "no chmod or chown of a path of the sandbox", text[-600:])
done()
