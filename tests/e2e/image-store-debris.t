#!/usr/bin/python3
"""What is damaged in the store, or none of its own, is told and left as it is; all the rest goes on, and the exit code says so."""
import json
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from images import *
from pf import *

store = Store()


def load(name, **run):
    loaded = store.image("load", "--name", name, "-", stdin=layout_tar([layer(busybox_tree())], **run))
    is_(loaded.code, 0, f"{name} is loaded", loaded)


def folder(path):
    os.mkdir(path)


def text(path):
    with open(path, "w", encoding="ascii") as file:
        file.write("pinfold-name 1\nid nothing\n")


def empty(path):
    with open(path, "wb"):
        pass


def link(path):
    os.symlink("/nothing", path)


def remove(path):
    (shutil.rmtree if os.path.isdir(path) and not os.path.islink(path) else os.unlink)(path)


load("kept", Cmd=["/bin/echo", "ran"])
load("gone", Cmd=["/bin/echo", "gone"])
gone = os.path.basename(store.tree("gone"))
is_(store.image("remove", "gone").code, 0, "removed: its config is gc's to remove")
run = store.image("list")
is_((run.code, run.err), (0, b""), "control: list has nothing to warn of", run)

# ---- names/ ----
for what, make, damaged in (("an empty file", empty, True), ("another text", text, True), ("a folder", folder, False), ("a FIFO", os.mkfifo, False),
                            ("a link", link, False)):
    path = os.path.join(store.path, "names", "stray:1")
    make(path)
    for words in (["list"], ["list", "--names"], ["list", "--json"]):
        run = store.image(*words)
        is_((run.code, b"kept:latest" in run.out), (1, True), f"names/ has {what}: {' '.join(words)} has the others, and exits with 1", run)
        ok(b"warning" in run.err and b"stray:1" in run.err, f"names/ has {what}: {' '.join(words)} warns of it", run)
    is_(store.run("kept").out, b"ran\n", f"names/ has {what}: the others run")
    ok(os.path.lexists(path), f"names/ has {what}: it is still there")
    if damaged:
        run = store.image("gc")
        is_(run.code, 1, f"names/ has {what}: gc exits with 1", run)
        ok(gone in store.entries("blobs/sha256"), f"names/ has {what}, which may have been a name: gc leaves blobs alone", run)
        store.image("tag", "kept", "second")
        is_(store.image("remove", "second").code, 0, f"names/ has {what}: a name goes", run)
        is_(len(store.entries("trees")), 1, f"names/ has {what}: the tree stays")
    remove(path)

# ---- all the other folders ----
HEX = "ab" * 32
for what, path, make in (("a folder", "trees/lost+found", folder), ("a file", "trees/file", empty), ("a file", f"trees/{HEX}", empty),
                         ("a folder without a lock", f"trees/{HEX}", folder), ("a link", f"trees/{HEX}", link),
                         ("a folder", "blobs/sha256/stray", folder), ("a folder", f"blobs/sha256/{HEX}", folder), ("a file", "blobs/sha256/stray", empty),
                         ("a folder", "partial/stray", folder), ("a folder", f"partial/{HEX}", folder), ("a folder", "names/stray", folder)):
    load("gone", Cmd=["/bin/echo", "gone"])
    is_(store.image("remove", "gone").code, 0, "something to remove")
    path, name = os.path.join(store.path, path), f"{what}, {path[:20]}"
    make(path)
    os.symlink("/nothing", os.path.join(store.path, "tmp/link"))
    run = store.image("gc", "--json")
    is_(run.code, 1, f"{name}: gc exits with 1", run)
    ok(b"warning" in run.err, f"{name}: gc warns of it", run)
    is_(json.loads(run.out)["unknown"], 1, f"{name}: and counts it", run)
    ok(os.path.lexists(path), f"{name}: it is still there")
    is_((gone in store.entries("blobs/sha256"), store.entries("tmp")), (False, []), f"{name}: the rest is collected")
    remove(path)
run = store.image("gc", "--json")
is_((run.code, json.loads(run.out)["unknown"], run.err), (0, 0, b""), "control: gc of a clean store", run)
is_(store.run("kept").out, b"ran\n", "what is named runs")
done()
