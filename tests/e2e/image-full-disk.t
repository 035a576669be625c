#!/usr/bin/python3
"""A pull that fills the disk fails with that reason, nothing of the image is seen, and once there is room it goes on where it was."""
import gzip
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))

if os.geteuid() == 0 and "PINFOLD_TEST_PRIVATE" not in os.environ:
    os.environ["PINFOLD_TEST_PRIVATE"] = "1"
    os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv])

import fake_registry
import images
from images import Store, busybox_tree, config
from pf import *

if os.geteuid() != 0:
    skip_all("needs root to mount a small disk")

SIZE = 8 << 20
server = fake_registry.Registry()
data = images.layer(busybox_tree(big=os.urandom(SIZE)))
packed = gzip.compress(data, 1, mtime=0)
conf = config([data], Cmd=["/bin/echo", "there"])
server.blob("a", conf)
path = server.blob("a", packed)
server.manifest("a", "v1", {"schemaVersion": 2, "mediaType": fake_registry.MANIFEST, "config": fake_registry.media(fake_registry.CONFIG, conf),
                            "layers": [fake_registry.media(fake_registry.GZIP, packed)]})
name = f"{server.name}/a:v1"
store = Store()
os.mkdir(store.path)
place = os.stat(os.path.dirname(store.path))
owner = f"uid={place.st_uid},gid={place.st_gid},"


def room(megabytes, *flags):
    subprocess.run(["mount", "-t", "tmpfs", "-o", ",".join([*flags, f"{owner}size={megabytes}m,mode=0700"]), "x", store.path], check=True)


def pull():
    return store.image("pull", "--insecure-registry", name)


room(4)
run = pull()
is_((run.code, run.out), (125, b""), "a disk of 4 MiB for a layer of 8", run)
like(run.err.decode(), r"blob sha256:\w+ of a: write the download: No space left on device", "the message says which blob, and why")
is_((store.names(), store.entries("trees"), store.entries("tmp")), ([], [], []), "nothing of the image is seen")
partial = os.path.join(store.path, "partial", fake_registry.digest(packed).split(":")[1])
with open(partial, "rb") as file:
    had = file.read()
ok(1 << 20 < len(had) < SIZE and packed.startswith(had), "what came is the beginning of the layer", len(had))
run = pull()
is_((run.code, os.path.getsize(partial)), (125, len(had)), "once more: no further", run)
room(14, "remount")
run = pull()
is_(run.code, 125, "room for the layer, and not for what is in it", run)
like(run.err.decode(), "No space left on device", "the message says why")
is_(server.asked(path)[-1].get("Range"), f"bytes={len(had)}-", "the layer went on where it was")
is_((store.names(), store.entries("trees"), store.entries("tmp")), ([], [], []), "nothing of the image is seen")
asked = len(server.asked(path))
room(64, "remount")
run = pull()
is_((run.code, len(server.asked(path))), (0, asked), "with room for all of it: pulled, and the layer that is there not asked for", run)
is_(store.run(name).out, b"there\n", "it runs")
is_(store.image("verify", name).code, 0, "and is whole")
done()
