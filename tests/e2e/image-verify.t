#!/usr/bin/python3
"""verify tells whatever changed of what a run uses: image.json, which says what is run and as whom; a capability; another name of
one of its files."""
import json
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from images import *
from pf import *

CAPABILITY = bytes.fromhex("0100000200200000000000000000000000000000")
store = Store()
tree = layer(busybox_tree(**{"a": b"one", "b": ("hard", "a"), "c": ("hard", "a"), "d": b"two", "e": ("hard", "d"), "work/f": b"alone"}))
loaded = store.image("load", "--name", "x", "-", stdin=layout_tar([tree], Cmd=["/bin/echo", "ran"], Env=["A=1"], User="app"))
is_(loaded.code, 0, "loaded", loaded)
folder = store.tree("x")
root, outside = os.path.join(folder, "rootfs"), os.path.join(store.path, "outside")
facts = os.path.join(folder, "image.json")
with open(facts, "rb") as file:
    was = file.read()


def replace(path, data):
    with open(path + ".new", "wb") as to:
        to.write(data)
    shutil.copystat(path, path + ".new")
    os.chown(path + ".new", os.stat(path).st_uid, os.stat(path).st_gid)
    os.rename(path + ".new", path)


def undisturbed():
    run = store.image("verify", "x")
    is_((run.code, b"as they were unpacked" in run.out), (0, True), "control: nothing differs", run)


def found(what, name, change, undo):
    """change() is told once, with that name, and nothing else is."""
    undisturbed()
    change()
    run = store.image("verify", "--json", "x")
    undo()
    is_(run.code, 1, f"{what}: verify says that something differs", run)
    document = json.loads(run.out)
    is_((document["differences"], [one["path"] for one in document["shown"]]), (1, [name]), f"{what}: told once, by its name", run)


is_(store.run("x").out, b"ran\n", "control: it runs")
found("bytes behind the end of image.json", "image.json", lambda: replace(facts, was + b"\0"), lambda: replace(facts, was))
for what, old, new in (("the command", b'"ran"', b'"RAN"'), ("the user", b'"app"', b'"root"'), ("the environment", b"A=1", b"A=2")):
    ok(was.count(old) == 1, f"control: {what} is in image.json")
    found(f"{what} of image.json", "image.json", lambda old=old, new=new: replace(facts, was.replace(old, new)), lambda: replace(facts, was))
found("image.json is gone", "image.json", lambda: os.rename(facts, outside), lambda: os.rename(outside, facts))
for name, first in (("a", "a"), ("c", "a"), ("e", "d"), ("work/f", "work/f")):
    found(f"a name outside of the tree for {name}", first, lambda name=name: os.link(f"{root}/{name}", outside), lambda: os.unlink(outside))
if os.geteuid() == 0:
    for name in ("bin/busybox", "work/f"):
        path = f"{root}/{name}"
        found(f"a capability on {name}", name, lambda path=path: os.setxattr(path, "security.capability", CAPABILITY),
              lambda path=path: os.removexattr(path, "security.capability"))
# IM12: a terminal sees no byte of such names
path = f"{root}/work/\x1b[31m\n\x9b"
with open(path, "w"):
    pass
run = store.image("verify", "x")
ok(rb"work/\x1b[31m\x0a\xc2\x9b: not in the record" in run.out and b"\x1b" not in run.out, "a name with ESC and a newline is escaped", run)
os.unlink(path)
os.utime(f"{root}/work", (0, 1600000000))
config = os.path.join(store.path, "blobs/sha256", os.path.basename(folder))
with open(config, "rb") as file:
    good = file.read()
found("another config", "sha256:" + os.path.basename(folder), lambda: replace(config, b"{}"), lambda: replace(config, good))
undisturbed()
# The root and one file, however often archives have them.
run = store.image("load", "--name", "y", "-", stdin=layout_tar([layer({"./": ("dir", 0o755), "x": b"1"}), layer({"x": b"2"})]))
is_(run.code, 0, "an image of two layers with one file", run)
is_([json.loads(store.image(*words, "--json", "y").out)[key] for words, key in ((["inspect"], "entries"), (["verify"], "paths"))], [2, 2],
    "inspect and verify count the tree's paths")
done()
