#!/usr/bin/python3
"""An image that is pulled is stored and runs; two pulls do the work once, one that was killed goes on where it was, and what is
wrong is never seen."""
import gzip
import json
import os
import signal
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
import fake_registry
import images
from images import Store, blob, busybox_tree, config
from pf import *

server = fake_registry.Registry()
LOCAL = {"PINFOLD_INSECURE_REGISTRY": "1"}


def publish(name, tree, **run):
    """An image of one gzipped layer; the path of that layer's blob."""
    data = images.layer(tree)
    packed = gzip.compress(data, 1, mtime=0)
    conf = config([data], **run)
    server.blob(name, conf)
    path = server.blob(name, packed)
    server.manifest(name, "v1", {"schemaVersion": 2, "mediaType": fake_registry.MANIFEST, "config": fake_registry.media(fake_registry.CONFIG, conf),
                                 "layers": [fake_registry.media(fake_registry.GZIP, packed)]})
    return path, packed


layer_path, packed = publish("a/b", busybox_tree(**{"big": os.urandom(6 << 20)}), Cmd=["/bin/echo", "pulled"])
name = f"{server.name}/a/b:v1"

store = Store()
run = store.image("pull", name)
is_(run.code, 125, "plain HTTP is not taken without a word", run)
run = store.image("pull", "--insecure-registry", name)
is_((run.code, run.out.split()[:1]), (0, [name.encode()]), "an image is pulled", run)
is_(store.run(name).out, b"pulled\n", "and runs")
is_(store.image("verify", name).code, 0, "it is what was unpacked")
is_((store.entries("partial"), store.entries("tmp")), ([], []), "nothing is left over")
asked = len(server.asked(layer_path))
is_(store.image("pull", "--insecure-registry", name).code, 0, "pulled again")
is_(len(server.asked(layer_path)), asked, "no blob that is there is asked for")
damaged = os.path.join(store.path, "blobs/sha256", blob(packed).split(":")[1])
os.chmod(damaged, 0o600)
with open(damaged, "r+b") as file:
    file.write(b"damaged")
is_(store.image("pull", "--insecure-registry", name).code, 0, "pulled again over a damaged blob")
is_((len(server.asked(layer_path)), store.image("verify", name).code), (asked + 1, 0), "which is fetched once more, and whole")
asked += 1
manifest = json.loads(store.image("inspect", "--json", name).out)["manifest"]["digest"]
pinned = f"{server.name}/a/b@{manifest}"
run = store.image("pull", "--insecure-registry", pinned)
is_((run.code, run.out.split()[:1]), (0, [pinned.encode()]), "a pull by digest has that name", run)
other = Store()
run = other.image("pull", "--insecure-registry", "--limit-bytes", "1M", name)
is_((run.code, len(server.asked(layer_path))), (125, asked), "what is larger than --limit-bytes is not fetched", run)
store.image("remove", pinned)
store.image("remove", name)
run = store.run(name)
is_((run.status, run.code), ("refused", 125), "not stored, and nobody asked for a pull: refused", run)
run = store.run("--pull", "missing", name, "/bin/echo", "words", env=LOCAL)
is_((run.status, run.out), ("exited", b"words\n"), "--pull missing pulls it, and its progress is no output", run)
lines = [json.loads(line) for line in store.image("pull", "--insecure-registry", "--json", name).out.splitlines()]
is_(lines[-1]["event"], "stored", "--json: the last line says what is stored")

# ---- two at a time ----
store = Store()
before = len(server.asked(layer_path))
both = [store.start("image", "pull", "--insecure-registry", name) for _ in range(2)]
runs = [one.wait() for one in both]
is_([run.code for run in runs], [0, 0], "two pulls at a time both succeed", runs[1])
is_(len(server.asked(layer_path)) - before, 1, "the layer is fetched once")
is_(sum(run.err.count(b"unpacking") for run in runs), 1, "and unpacked once", runs[0])

# ---- killed, then on ----
half, let_go = threading.Event(), threading.Event()


def stall(handler, count):
    """The first answer stops in the middle, as long as the test says."""
    if handler.from_range():
        return False
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(packed)))
    handler.end_headers()
    handler.wfile.write(packed[:4 << 20])
    handler.wfile.flush()
    half.set()
    let_go.wait(60)
    handler.close_connection = True
    return True


store = Store()
server.faults[layer_path] = stall
one = store.start("image", "pull", "--insecure-registry", name)
half.wait(60)
partial = os.path.join(store.path, "partial", blob(packed).split(":")[1])
wait_for(lambda: os.path.exists(partial) and os.path.getsize(partial) >= 1 << 20, what="the first part of the layer")
one.process.send_signal(signal.SIGKILL)
one.process.communicate()
let_go.set()
is_((store.names(), store.entries("trees")), ([], []), "a killed pull is not seen")
ok(os.path.exists(partial), "but its part of the layer is there")
had = os.path.getsize(partial)
run = store.image("pull", "--insecure-registry", name)
is_(run.code, 0, "the next one goes on", run)
ranges = [headers.get("Range") for headers in server.asked(layer_path)]
is_(ranges[-1], f"bytes={had}-", "where the first one was")
is_(store.image("verify", name).code, 0, "and all of it is right")
del server.faults[layer_path]

# ---- wrong bytes ----
bad_path, bad = publish("bad/one", busybox_tree(**{"x": b"x"}), Cmd=["/bin/true"])
server.put(bad_path, "application/octet-stream", bad[:-9] + bytes([bad[-9] ^ 1]) + bad[-8:])
store = Store()
run = store.image("pull", "--insecure-registry", f"{server.name}/bad/one:v1")
is_((run.code, run.out), (125, b""), "a layer with another digest is refused", run)
is_((store.names(), store.entries("trees"), [name for name in store.entries("blobs/sha256") if name == blob(bad).split(":")[1]]), ([], [], []),
    "and never seen")
run = store.image("pull", "local-name")
is_(run.code, 125, "a name without a registry cannot be pulled", run)
# Port 1 of the loopback address has no listener.
run = Store().image("pull", "--insecure-registry", "localhost:1/x")
ok(run.code == 125 and b"localhost:1: " in run.err, "who did not answer is named, with the port", run)
done()
