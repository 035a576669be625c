#!/usr/bin/python3
"""The store is whole at every moment: two loads do the work once, a killed one leaves what gc removes, a run keeps its tree,
verify finds what changed, and nobody else's store is used."""
import json
import os
import random
import signal
import stat
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from images import *
from pf import *

files = {f"data/{i:04}": (b"%04d" % i) * 2000 for i in range(1500)}
tree = layer(busybox_tree(**files))
archive = os.path.join(tmpdir(), "i.tar")
with open(archive, "wb") as file:
    file.write(layout_tar([tree], Cmd=["/bin/echo", "ran"]))

# ---- twice at a time ----
store = Store()
both = [store.start("image", "load", "--name", name, archive) for name in ("a", "b")]
runs = [one.wait() for one in both]
is_([run.code for run in runs], [0, 0], "two loads at a time both succeed", runs[0])
is_(sorted(run.err.count(b"unpacking") for run in runs), [0, 1], "one of them unpacks", runs[1])
is_((len(store.entries("trees")), store.entries("tmp"), store.names()), (1, [], ["a:latest", "b:latest"]), "one tree, nothing left over")
is_(store.run("a").out, b"ran\n", "it runs")
mode = os.stat(store.path)
is_(stat.S_IMODE(mode.st_mode), 0o700, "the store is its owner's alone")

# ---- verify ----
is_(store.image("verify", "a").code, 0, "a fresh tree is as it was unpacked")
root = os.path.join(store.tree("a"), "rootfs")
changes = {
    "a flipped byte": (lambda: flip("data/0007", 100), lambda: flip("data/0007", 100), b"data/0007"),
    "a mode": (lambda: os.chmod(f"{root}/data/0008", 0o777), lambda: os.chmod(f"{root}/data/0008", 0o644), b"data/0008"),
    "a file more": (lambda: open(f"{root}/more", "w").close(), lambda: os.unlink(f"{root}/more"), b"more"),
    "a file less": (lambda: os.rename(f"{root}/data/0009", f"{root}/../0009"), lambda: os.rename(f"{root}/../0009", f"{root}/data/0009"), b"data/0009"),
}


def flip(name, at):
    path = os.path.join(root, name)
    before = os.stat(path)
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)
        file.seek(at)
        file.write(bytes([byte[0] ^ 1]))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


for what, (change, undo, names) in changes.items():
    change()
    run = store.image("verify", "a")
    is_(run.code, 1, f"verify finds {what}", run)
    ok(names in run.out, f"and names it: {what}", run)
    undo()
document = json.loads(store.image("verify", "--json", "a").out)
ok({"name", "id", "paths", "differences", "shown"} <= set(document), "verify --json is a document")
a_blob = os.path.join(store.path, "blobs/sha256", store.entries("blobs/sha256")[0])
os.chmod(a_blob, 0o600)
with open(a_blob, "r+b") as file:
    file.write(b"X")
is_(store.image("verify", "a").code, 1, "and a blob with other bytes")

# ---- in use ----
store = Store()
is_(store.image("load", "--name", "used", archive).code, 0, "loaded")
with store.start("run", "used", "/bin/sh", "-c", "echo up; sleep 60") as running:
    is_(running.line(), "up", "a run is at work")
    run = store.image("remove", "used")
    is_(run.code, 125, "remove while a run holds the tree is refused", run)
    ok(b"in use" in run.err, "and says so", run)
    is_(store.names(), ["used:latest"], "the name is still there")
    store.image("tag", "used", "second")
    is_(store.image("remove", "used").code, 0, "a name of several can go")
    is_(len(store.entries("trees")), 1, "the tree stays")
    running.signal(signal.SIGTERM)
    running.wait()
is_(store.image("remove", "second").code, 0, "afterwards it can be removed")
is_(store.entries("trees"), [], "the tree is gone")
ok(len(store.entries("blobs/sha256")) > 0, "blobs stay")
is_(store.image("gc").code, 0, "gc")
is_((store.entries("blobs/sha256"), store.entries("tmp")), ([], []), "until gc")

# ---- killed at random points ----
begin = time.monotonic()
Store().image("load", "--name", "x", archive)
whole = time.monotonic() - begin
store, killed = Store(), 0
random.seed(7)
for i in range(100):
    if killed == 8:
        break
    one = store.start("image", "load", "--name", f"k{i}", archive)
    try:
        one.process.communicate(timeout=random.uniform(0, whole))
    except subprocess.TimeoutExpired:
        one.process.send_signal(signal.SIGKILL)
        one.process.communicate()
        killed += 1
    for name in store.names():
        is_(store.image("verify", name).code, 0, f"after kill {i}: {name} is whole")
    if store.names():
        store.image("remove", *store.names())
is_(killed, 8, f"control: {i} loads, of which eight were killed at work")
wait_for(lambda: store.image("gc").code == 0 and not store.entries("tmp"), what="gc has nothing left to remove")
is_([store.entries(folder) for folder in ("tmp", "trees", "names", "partial", "blobs/sha256")], [[]] * 5, "gc removes all that they left")
is_(store.image("load", "--name", "end", archive).code, 0, "and the next load works")
is_(store.run("end").out, b"ran\n", "as ever")

# ---- not ours ----
place = tmpdir(mode=0o777)
run = pinfold("image", "list", env={"PINFOLD_STORE": place})
is_(run.code, 125, "a store that others may write to is refused", run)
# A place that is none is not taken for "say nothing": that would be another store.
for run in (pinfold("image", "list", env={"PINFOLD_STORE": "store"}), pinfold("run", "x", env={"PINFOLD_STORE": "store"})):
    ok(run.code == 125 and b"no absolute path" in run.err, "a relative PINFOLD_STORE is refused", run)
for words in ["frob"], ["load"], ["load", "a", "b"], ["list", "--frob"], ["remove"], ["tag", "end"], ["inspect", "nothing"], ["tag", "end", "UPPER CASE"]:
    run = store.image(*words)
    is_((run.code, run.out), (125, b""), f"{' '.join(words)}: refused", run)
    ok(run.err.startswith(b"pinfold: image"), "and says why", run)
for verb in ("pull", "load", "import", "build-debian", "list", "inspect", "tag", "remove", "gc", "verify", "export"):
    run = pinfold("image", verb, "--help")
    ok(run.code == 0 and run.out.startswith(f"Usage: pinfold image {verb}".encode()), f"{verb} --help", run)
done()
