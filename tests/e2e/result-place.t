#!/usr/bin/python3
"""--result FILE is complete or not there, replaces only a regular file, never goes through a link, and is refused before
anything starts where it cannot be written; --result fd:N goes to what the caller opened."""
import json
import os
import stat
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *
import pf

payload = [tiny(), "/bin/payload"]
folder = tmpdir()
path = os.path.join(folder, "result.json")


def run_to(where, *verbs, **options):
    return pinfold("run", "--result", where, *payload, *(verbs or ("exit", "3")), result=False, **options)


def read(where):
    with open(where, "rb") as file:
        return pf.parse(file.read(), "result")


is_(run_to(path).code, 3, "a new file")
is_(read(path)["exit"]["code"], 3, "with a document")
is_(stat.S_IMODE(os.stat(path).st_mode), 0o644, "of the usual mode")
inode = os.stat(path).st_ino
with open(path, "rb") as old:
    run_to(path, "exit", "4")
    ok(json.load(old)["exit"]["code"] == 3 and os.stat(path).st_ino != inode, "an old file is replaced whole, not written over")
is_(read(path)["exit"]["code"], 4, "by the new document")
is_(os.listdir(folder), ["result.json"], "nothing else is in the folder")
with start("run", "--result", path, *payload, "echo", "ready", ",", "await", "10", result=False) as running:
    running.line()
    running.line()
    is_((os.listdir(folder), read(path)["exit"]["code"]), (["result.json"], 4), "while it runs nothing is there but the old one")
    running.signal(10)
    running.wait()
run = run_to("result.json", cwd=folder)
is_((run.code, read(path)["exit"]["code"]), (3, 3), "a name without a folder is in the current one", run)

# Where it must not go.
victim = os.path.join(folder, "victim")
with open(victim, "w", encoding="ascii") as file:
    file.write("precious\n")
os.symlink(victim, os.path.join(folder, "link"))
os.symlink(os.path.join(folder, "nothing"), os.path.join(folder, "dangling"))
os.mkfifo(os.path.join(folder, "fifo"))
os.mkdir(os.path.join(folder, "sub"))
for name in "link", "dangling", "fifo", "sub", "missing/result.json", "victim/result.json", "sub/", ".", "..":
    before = sorted(os.listdir(folder))
    run = run_to(os.path.join(folder, name), "echo", "ran")
    is_((run.code, run.out), (125, b""), f"{name}: refused, nothing ran", run)
    ok(name.strip("/.") in run.err.decode(), f"{name}: by its name", run)
    is_(sorted(os.listdir(folder)), before, f"{name}: nothing was made")
with open(victim, encoding="ascii") as file:
    is_(file.read(), "precious\n", "what a link leads to is as it was")
run = run_to("/dev/null", "echo", "ran")
is_((run.code, run.out), (125, b""), "a device is refused", run)
if WHO == "user" and os.geteuid() == 0:
    run = run_to("/etc/pinfold-result.json", "echo", "ran")
    is_((run.code, run.out), (125, b""), "a folder of somebody else's is refused", run)

# fd:N
read_end, write_end = os.pipe()
run = run_to(f"fd:{write_end}", pass_fds=[write_end])
os.close(write_end)
with open(read_end, "rb") as file:
    is_(pf.parse(file.read(), "result")["exit"]["code"], 3, "fd:N, a pipe")
with open(path, "wb") as file:
    run = run_to(f"fd:{file.fileno()}", "fds", pass_fds=[file.fileno()])
    is_(run.out.count(b"\n"), 3, "the program has no fd:N", run)
is_(read(path)["status"], "exited", "fd:N, a file")
run = run_to("fd:1", "exit", "3")
is_(pf.parse(run.out, "result")["exit"]["code"], 3, "fd:1")
readable = os.open(path, os.O_RDONLY)
for where in "fd:77", "fd:", "fd:x", "fd:-1", "fd:1x", "fd:99999999999", f"fd:{readable}":
    run = run_to(where, "echo", "ran", pass_fds=[readable])
    is_((run.code, run.out), (125, b""), f"{where}: refused", run)
os.close(readable)
full = os.open("/dev/full", os.O_WRONLY)
run = run_to(f"fd:{full}", "exit", "0", pass_fds=[full])
os.close(full)
is_(run.code, 125, "a result that could not be written is no success", run)
like(run.err.decode(), r"write the result: .*[Nn]o space", "and stderr says so")
run = pinfold("run", "--result", path, "--events", path, *payload, "echo", "ran", result=False)
is_((run.code, run.out), (125, b""), "result and events in one place: refused", run)
done()
