#!/usr/bin/python3
"""`pinfold explain` takes the arguments of `run` and says what run would do, by rehearsing it: the same mounts, the same ledger,
the same refusals; and nothing is run, made, cut or read."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))

# As root it runs in a mount namespace of its own, so that it may mount.
if os.geteuid() == 0 and "PINFOLD_TEST_PRIVATE" not in os.environ:
    os.environ["PINFOLD_TEST_PRIVATE"] = "1"
    os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv])

from host import leftovers, tree
from pf import *

MARK = f"explain-{os.getpid()}"
folder = tmpdir()
payload = [tiny(), "/bin/payload"]


def rows(run, title):
    """The lines under a title, without it."""
    found, inside = [], False
    for line in run.out.decode().splitlines():
        name, rest = line[:12].strip(), line[13:]
        inside = name == title or (inside and not name)
        if inside:
            found.append(rest)
    return found


def mounts(text):
    """What explain prints of each line of mountinfo."""
    lines = []
    for line in text.splitlines():
        left, right = line.split(" - ")
        lines.append(f"{left.split()[4]} {right.split()[0]} {left.split()[5]}")
    return lines


def agree(name, *args):
    """explain and run refuse with the same words and the same code."""
    explained, run = pinfold("explain", *args), pinfold("run", *args)
    said = [line for line in run.err.decode().splitlines() if line.startswith(f"pinfold: {run.status}")]
    is_(explained.code, run.code, f"{name}: the exit code of run", f"{explained}\n{run}")
    is_([line for line in explained.err.decode().splitlines() if "warning" not in line], said, f"{name}: and its words")
    return explained, run


# The mount tree, whole and in order, for each form of an image.
bound = image({**{name: ("dir", 0o755) for name in ("proc", "sys", "dev", "tmp", "run", "scratch", "etc")},
               "bin/payload": ("copy", payload_path())})
for name, args in {"an overlay": payload, "a bind": [bound, "/bin/payload"], "@host": ["@host", "/bin/cat"],
                   "a tty": ["--tty", *payload]}.items():
    explained = pinfold("explain", *args, "cat", "/proc/self/mountinfo") if args[0] != "@host" else \
        pinfold("explain", *args, "/proc/self/mountinfo")
    is_(explained.code, 0, f"{name}: explained", explained)
    run = pinfold("run", *args, *(["cat"] if args[0] != "@host" else []), "/proc/self/mountinfo")
    is_(rows(explained, "mounts"), mounts(run.out.decode()), f"{name}: the mounts of a real run, in order, with their flags", run)
    names = {line.split()[0]: line.split()[1] for line in rows(explained, "guarantees")}
    is_(names, {row["name"]: row["state"] for row in run.result["guarantees"]}, f"{name}: the same ledger")
    like(explained.out.decode(), r"^not checked .*format and interpreter", f"{name}: what is not checked is said")

# What run would refuse, or could not start.
os.mkfifo(os.path.join(folder, "fifo"))
agree("bad usage", "--memroy", "1M", *payload, "exit", "0")
agree("no command", tiny())
agree("one file for two streams", "--stdout", os.path.join(folder, "both"), "--stderr", os.path.join(folder, "both"), *payload, "exit", "0")
agree("a missing stdin", "--stdin", "/nope", *payload, "exit", "0")
agree("a folder as stdin", "--stdin", folder, *payload, "exit", "0")
agree("a folder as stdout", "--stdout", folder, *payload, "exit", "0")
agree("stdout in a missing folder", "--stdout", "/nope/out", *payload, "exit", "0")
agree("a missing working directory", "--workdir", "/nope", *payload, "exit", "0")
agree("a working directory that is a file", "--workdir", "/bin/payload", *payload, "exit", "0")
agree("a working directory out of the root", "--workdir", "/proc/1/root", *payload, "exit", "0")
agree("a missing command", tiny(), "/bin/nope")
agree("a missing command, by PATH", tiny(), "nope")
agree("a command that is a folder", tiny(), "/bin")
plain = image({"bin/payload": ("copy", payload_path()), "bin/text": ("file", b"x", 0o644)})
agree("a command that is not executable", plain, "/bin/text")
agree("a missing image", "/nope", "x")
for guarantee in ("memory", "ownership", "groups", "proc", "all"):
    agree(f"--require {guarantee}", "--require", guarantee, *payload, "exit", "0")

# What cannot be idmapped shows only when it is tried.
if WHO == "root":
    upper, over = tmpdir(), tmpdir()
    subprocess.run(["mount", "-t", "tmpfs", "x", upper], check=True)
    for name in "upper", "work":
        os.mkdir(os.path.join(upper, name))
    subprocess.run(["mount", "-t", "overlay", "x", over, "-o",
                    f"lowerdir={tiny()},upperdir={upper}/upper,workdir={upper}/work"], check=True)
    explained, run = agree("ownership on an overlay", "--require", "ownership", over, "/bin/payload", "exit", "0")
    explained = pinfold("explain", over, "/bin/payload", "exit", "0")
    run = pinfold("run", over, "/bin/payload", "exit", "0")
    is_([line.split()[1] for line in rows(explained, "guarantees") if line.split()[0] == "ownership"], [run.guarantee("ownership")["state"]],
        "without the demand: as run has it", run)
    subprocess.run(["umount", over], check=True)
    subprocess.run(["umount", upper], check=True)
else:
    skip("needs root", "an image on an overlay")

# Nothing happens.
out = os.path.join(folder, "out")
with open(out, "w", encoding="ascii") as file:
    file.write("as it was")
os.chmod(out, 0o666)
before = tree(folder)
run = pinfold("explain", "--id", MARK, "--stdin", os.path.join(folder, "fifo"), "--stdout", out, "--stderr", os.path.join(folder, "err"),
              "--result", os.path.join(folder, "result"), "--events", os.path.join(folder, "events"), *payload, "echo", "ran")
is_(run.code, 0, "a fifo is no reason to wait", run)
unlike(run.out, rb"^ran$", "the program does not run")
is_(tree(folder), before, "no file is made, cut or touched")
read_end, write_end = os.pipe()
os.write(write_end, b"kept")
os.close(write_end)
run = pinfold("explain", "--stdin", "-", *payload, "cat", stdin=read_end)
is_((run.code, os.read(read_end, 10)), (0, b"kept"), "stdin is not read", run)
is_(leftovers(MARK), [], "nothing is left")
# A key that adds up is of all that said so.
added = os.path.join(tmpdir(), "spec.json")
with open(added, "w", encoding="utf-8") as file:
    file.write('{"env": ["A=1"]}')
run = pinfold("explain", "--spec", added, "--env", "B=2", "--hostname", "x", "@host", "true")
like(run.out.decode(), r"(?m) env +spec file, flag +\S*A=1.*B=2", "a key that adds up names each who said so")
like(run.out.decode(), r"(?m) hostname +flag +", "any other the last")
done()
