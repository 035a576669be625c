#!/usr/bin/python3
"""A file that a run reads or writes is not another one that it writes, whatever it is called there: refused before anything is
cut, with both options named, and nothing is lost. What loses nothing may be shared."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

folder = tmpdir()
PAYLOAD = [tiny(), "/bin/payload"]
SPEC = json.dumps({"image": tiny(), "command": ["/bin/payload", "cat"]}).encode()
PROFILE = json.dumps({"defaultAction": "SCMP_ACT_ALLOW"}).encode()


def at(*names):
    return os.path.join(folder, *names)


def write(name, content):
    with open(at(name), "wb") as file:
        file.write(content)


def content(name):
    try:
        with open(at(name), "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def refused(name, one, other, *args, keeps=(), **options):
    before = {path: content(path) for path in keeps}
    run = pinfold("run", *args, cwd=folder, result=False, **options)
    is_((run.code, run.out), (125, b""), f"{name}: refused, nothing ran", run)
    ok(one in run.err.decode() and other in run.err.decode() and "one file" in run.err.decode(), f"{name}: both options are named", run)
    is_({path: content(path) for path in keeps}, before, f"{name}: nothing is lost")


os.mkdir(at("sub"))
os.chmod(at("sub"), 0o777)
os.symlink("in", at("link"))
os.symlink("new", at("dangling"))
os.symlink("../sub/../new", at("sub/far"))
os.symlink(".", at("here"))
write("in", b"precious\n")
os.link(at("in"), at("hard"))
write("s.json", SPEC)
write("p.json", PROFILE)

# What is read.
for spelled in "in", "./in", at("in"), "sub/../in", "link", "hard", "here/in":
    for option in "--stdout", "--stderr", "--events":
        refused(f"--stdin in {option} {spelled}", "--stdin", option, "--stdin", "in", option, spelled, *PAYLOAD, "cat", keeps=["in"])
for spelled in "in", "./in", "hard", "here/in":
    refused(f"--stdin in --result {spelled}", "--stdin", "--result", "--stdin", "in", "--result", spelled, *PAYLOAD, "cat", keeps=["in"])
for option in "--stdout", "--stderr", "--events", "--result":
    refused(f"--spec s.json {option} s.json", "--spec", option, "--spec", "s.json", option, "s.json", keeps=["s.json"])
    refused(f"--seccomp p.json {option} p.json", "--seccomp", option, "--seccomp", "p.json", option, at("p.json"), *PAYLOAD, "cat",
            keeps=["p.json"])
with open(at("in"), "rb") as file:
    refused("--stdin - < in, --stdout in", "the caller's stdin", "--stdout", "--stdin", "-", "--stdout", "link", *PAYLOAD, "cat",
            keeps=["in"], stdin=file)
write("own.json", json.dumps({**json.loads(SPEC), "stdin": "in", "stdout": "hard"}).encode())
refused("a spec that says so", "--stdin", "--stdout", "--spec", "own.json", keeps=["in", "own.json"])

# A refusal for another reason writes its documents all the same, but not there.
for args in ["--spec", "s.json", "--bogus"], ["--stdin", "s.json", "--bogus"], ["--bogus", "--stdin", "s.json"], \
        ["--seccomp", "s.json", "--memory", "1"]:
    for option in "--result", "--events":
        run = pinfold("run", *args, option, "s.json", *PAYLOAD, "cat", cwd=folder, result=False)
        is_((run.code, content("s.json")), (125, SPEC), f"{' '.join(args)} {option} s.json: the file stays", run)
run = pinfold("run", "--stdout", "both", "--stderr", "both", "--result", "r.json", *PAYLOAD, "cat", cwd=folder, result=False)
is_((run.code, json.loads(content("r.json"))["status"]), (125, "refused"), "a refusal of this kind has its result", run)

# What is written twice; of what does not exist yet the folder and the name count.
for one, other in ("--stdout", "--stderr"), ("--stdout", "--result"), ("--stdout", "--events"), ("--stderr", "--result"), \
        ("--stderr", "--events"), ("--result", "--events"):
    refused(f"{one} new {other} ./sub/../new", one, other, one, "new", other, "./sub/../new", *PAYLOAD, "echo", "x")
    refused(f"{one} in {other} in", one, other, one, "in", other, at("in"), *PAYLOAD, "echo", "x", keeps=["in"] if "--result" not in (one, other) else [])
    write("in", b"precious\n")
for spelled in "dangling", "sub/far", "here/dangling":
    refused(f"--stdout new --stderr {spelled}", "--stdout", "--stderr", "--stdout", "new", "--stderr", spelled, *PAYLOAD, "echo", "x")
ok(not os.path.exists(at("new")) or json.loads(content("new"))["status"] == "refused", "the program's file was not made")
with open(at("in"), "ab") as file:
    for option in "--stderr", "--events":
        refused(f"stdout >> in, {option} in", "the caller's stdout", option, option, "in", *PAYLOAD, "echo", "x", keeps=["in"], stdout=file)
        run = pinfold("run", option, "in", *PAYLOAD, "echo", "x", cwd=folder, result=False, stderr=file)
        is_((run.code, run.out, content("in")[:9]), (125, b"", b"precious\n"), f"{option} in 2>> in: refused", run)
    fd = file.fileno()
    refused(f"--events fd:{fd} --result fd:{fd}", "--result", "--events", "--events", f"fd:{fd}", "--result", f"fd:{fd}", *PAYLOAD,
            "echo", "x", pass_fds=[fd])
    refused(f"--events fd:{fd} --stdout in", "--stdout", "--events", "--events", f"fd:{fd}", "--stdout", "in", *PAYLOAD, "echo", "x",
            keeps=["in"], pass_fds=[fd])

# What loses nothing.
run = pinfold("run", "--stdout", "/dev/null", "--stderr", "/dev/null", "--events", "/dev/null", *PAYLOAD, "echo", "x")
is_((run.status, run.out), ("exited", b""), "/dev/null for all", run)
os.mkfifo(at("fifo"))
os.chmod(at("fifo"), 0o666)
reader = os.open(at("fifo"), os.O_RDONLY | os.O_NONBLOCK)
run = pinfold("run", "--stdout", at("fifo"), "--stderr", at("fifo"), *PAYLOAD, "echo", "x", ",", "spam", "stderr", "3")
is_((run.status, sorted(os.read(reader, 100))), ("exited", sorted(b"x\nabc")), "one pipe for both", run)
os.close(reader)
for other in "--stdout", "--stderr":
    refused(f"a FIFO for {other} and --events", other, "--events", other, "fifo", "--events", "./fifo", *PAYLOAD, "echo", "x")
refused("a FIFO for --stdin and --stdout", "--stdin", "--stdout", "--stdin", "fifo", "--stdout", "fifo", *PAYLOAD, "cat")
read_end, write_end = os.pipe()
os.set_blocking(write_end, False)
for name, options in {"a path": ["--events", "/dev/stderr"], "fd:2": ["--events", "fd:2", "--stdout", "/dev/stderr"]}.items():
    run = pinfold("run", *options, *PAYLOAD, "echo", "x", result=False, stderr=write_end)
    is_(run.code, 125, f"{name}: events and what else the caller's pipe for stderr holds: refused", run)
run = pinfold("run", "--events", "fd:2", *PAYLOAD, "echo", "x", stderr=write_end)
is_(run.status, "exited", "what the caller opened for both is the caller's affair", run)
os.close(read_end)
os.close(write_end)

# What can be read once alone.
asks = json.dumps({**json.loads(SPEC), "stdin": "-"}).encode()
for name, args in {"in the spec": [], "as a flag": ["--stdin", "-"], "by another name": ["--stdin", "/dev/stdin"]}.items():
    for command in "run", "explain":
        run = pinfold(command, "--spec", "-", *args, stdin=SPEC if args else asks, **({"result": False} if command == "run" else {}))
        is_((run.code, run.out), (125, b""), f"{command} --spec - and stdin, {name}: refused", run)
        like(run.err.decode(), r"--spec and (the caller's stdin|--stdin) are one stream", "with both, and why")
run = pinfold("run", "--spec", "/dev/stdin", "--stdin", "-", stdin=SPEC)
is_((run.status, run.out), ("refused", b""), "the other way round", run)
with open(at("s.json"), "rb") as file:
    run = pinfold("run", "--spec", "-", "--stdin", "-", stdin=file)
    is_((run.status, run.out), ("refused", b""), "a file is at its end for the second, too", run)
run = pinfold("run", "--spec", "-", stdin=SPEC)
is_((run.status, run.out), ("exited", b""), "a spec on stdin and a program that reads nothing", run)
run = pinfold("run", "--spec", "-", "--stdin", "p.json", stdin=SPEC, cwd=folder)
is_((run.status, run.out), ("exited", PROFILE), "or something else", run)
with open(at("s.json"), "rb") as file:
    run = pinfold("run", "--spec", "/dev/stdin", "--stdin", "/dev/stdin", stdin=file)
    is_((run.status, run.out), ("exited", SPEC), "a file that is opened twice is read twice", run)
run = pinfold("run", "--spec", "s.json", "--stdin", "s.json", cwd=folder)
is_((run.status, run.out), ("exited", SPEC), "a file that is only read, read twice", run)
run = pinfold("run", "--stdout", "a", "--stderr", "sub/a", *PAYLOAD, "echo", "x", cwd=folder)
is_((run.status, content("a"), content("sub/a")), ("exited", b"x\n", b""), "one name in two folders", run)
run = pinfold("run", "--result", "fd:1", *PAYLOAD, "echo", "x", result=False)
ok(run.code == 0 and run.out.startswith(b"x\n{"), "the result behind the output on fd:1", run)
with open(at("both"), "wb") as file:
    pinfold("run", "--result", "fd:1", *PAYLOAD, "echo", "x", result=False, stdout=file)
ok(content("both").startswith(b"x\n{"), "also where that is a file")
run = pinfold("run", "--stdout", "fd:3", "--result", "fd:1", *PAYLOAD, "echo", "x", cwd=folder, result=False)
is_((run.code, content("fd:3")), (0, b"x\n"), "to --stdout, fd:3 is a file of that name", run)
done()
