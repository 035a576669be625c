#!/usr/bin/python3
"""--result FILE is complete or not there, replaces only a regular file, never goes through a link, and is refused before
anything starts where it cannot be written; a file that is a mount of its own is written in place, and what fails all the
same is kept beside it; --result fd:N goes to what the caller opened."""
import atexit
import ctypes
import json
import os
import stat
import subprocess
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
like(run.err.decode(), r"write the result to fd:\d+: .*[Nn]o space", "and stderr says so")
run = pinfold("run", "--result", path, "--events", path, *payload, "echo", "ran", result=False)
is_((run.code, run.out), (125, b""), "result and events in one place: refused", run)
name = os.path.join(folder, "x" * 256)
run = run_to(name, "echo", "ran")
is_((run.code, run.out), (125, b""), "a name that is too long: refused", run)


# What the kernel would not replace, and what it will not at the end. Root prepares it; WHO runs.
def mount(source, target, kind=None, flags=0, data=None):
    """mount(2), in a namespace of this test's own."""
    libc = ctypes.CDLL(None, use_errno=True)
    words = [word.encode() if word else None for word in (source, target, kind)]
    if libc.mount(*words, ctypes.c_ulong(flags), data and data.encode()) != 0:
        raise OSError(ctypes.get_errno(), f"mount {source} {target}")
    if not flags & (REMOUNT | PRIVATE):
        atexit.register(libc.umount2, target.encode(), 2)  # MNT_DETACH, before the folder is removed


BIND, PRIVATE, REMOUNT, READ_ONLY = 0x1000, 0x44000, 0x20, 1  # linux/mount.h; PRIVATE is recursive


def refused_before(place, reason, what):
    """Nothing ran, the reason and the way out are said, and the old content stays."""
    with open(place, encoding="ascii") as old:
        before = old.read()
    refusal = run_to(place, "echo", "ran")
    is_((refusal.code, refusal.out), (125, b""), f"{what}: refused, nothing ran", refusal)
    like(refusal.err.decode(), reason, f"{what}: with the reason")
    with open(place, encoding="ascii") as old:
        is_(old.read(), before, f"{what}: and it is as it was")


def old_file(*parts):
    place = os.path.join(*parts)
    with open(place, "w", encoding="ascii") as new:
        new.write("old\n")
    os.chown(place, os.stat(folder).st_uid, os.stat(folder).st_gid)
    return place


def left_beside(place, finished, what):
    """The document is there all the same, and stderr names the whole path."""
    left = [entry for entry in os.listdir(os.path.dirname(place)) if entry.startswith(os.path.basename(place) + ".pinfold-")]
    is_((finished.code, len(left)), (125, 1), f"{what}: no success, and one file beside it", finished)
    kept = os.path.join(os.path.dirname(place), left[0])
    ok(kept in finished.err.decode(), f"{what}: stderr names its whole path", finished)
    document = read(kept)
    is_((document["exit"]["code"], left[0].rsplit("-")[-1]), (3, document["id"]), f"{what}: it is the document, by the run's id")


if os.geteuid() == 0:
    if WHO == "user":
        sticky = tmpdir("root", 0o1777)
        theirs = os.path.join(sticky, "theirs")
        with open(theirs, "w", encoding="ascii") as file:
            file.write("old\n")
        refused_before(theirs, r"theirs exists, is another user's in a sticky folder and so cannot be replaced; .*fd:N", "a sticky folder")
        is_(run_to(old_file(sticky, "own")).code, 3, "one's own file there is replaced")
    for letter, word in ("a", "append-only"), ("i", "immutable"):
        for protected in "file", "folder":
            inside = tmpdir()
            place = old_file(inside, "r.json")
            marked = place if protected == "file" else inside
            if subprocess.run(["chattr", f"+{letter}", marked], capture_output=True, check=False).returncode != 0:
                skip("no append-only and immutable files here", f"an {word} {protected}")
                continue
            try:
                refused_before(place, f"is {'in an ' if protected == 'folder' else ''}{word}", f"an {word} {protected}")
                if marked == place:
                    refusal = pinfold("explain", "--stdout", place, *payload, "exit", "0")
                    is_(refusal.code, 125, f"explain: an {word} file for --stdout, too", refusal)
                elif letter == "a":
                    is_(run_to(os.path.join(inside, "new.json")).code, 3, "a new file in an append-only folder")
            finally:
                subprocess.run(["chattr", f"-{letter}", marked], check=True)

    libc = ctypes.CDLL(None, use_errno=True)
    is_(libc.unshare(0x20000), 0, "a mount namespace for what follows")  # CLONE_NEWNS
    mount(None, "/", None, PRIVATE)
    locked = tmpdir("root")  # as the folder of a file that a container is given
    source, place = old_file(folder, "source"), os.path.join(locked, "result.json")
    with open(place, "w", encoding="ascii"):
        pass
    mount(source, place, None, BIND)
    with open(source, "a", encoding="ascii") as file:
        file.write("long" * 10000)
    inode = os.stat(source).st_ino
    is_(run_to(place).code, 3, "a file that is a mount of its own")
    is_((read(source)["exit"]["code"], os.stat(source).st_ino), (3, inode), "is written in place, to its end")
    is_(os.listdir(locked), ["result.json"], "and nothing beside it")
    with start("run", "--result", place, *payload, "echo", "ready", ",", "await", "10", result=False) as running:
        running.line()
        running.line()
        is_(read(source)["exit"]["code"], 3, "while the program runs it has its old content")
        running.signal(10)
        running.wait()
    mount(None, place, None, BIND | REMOUNT | READ_ONLY)
    refused_before(place, r"result\.json, a mount of its own, .*[Rr]ead-only", "a mount that is read-only")

    # Failures of the end.
    late = old_file(tmpdir(), "late.json")
    with start("run", "--result", late, *payload, "echo", "ready", ",", "await", "10", ",", "exit", "3", result=False) as running:
        running.line()
        running.line()
        mount(source, late, None, BIND)
        running.signal(10)
        left_beside(late, running.wait(), "a mount that comes in between")
    full = tmpdir("root")
    mount("full", full, "tmpfs", 0, "size=4k,mode=755")
    place = os.path.join(tmpdir(), "full.json")
    for made in os.path.join(full, "r"), place:
        old_file(made)
    with open(os.path.join(full, "r"), "w", encoding="ascii"):
        pass
    mount(os.path.join(full, "r"), place, None, BIND)
    with open(os.path.join(full, "fill"), "wb") as file:
        file.write(bytes(4096))
    left_beside(place, run_to(place), "a mount that is full")
done()
