#!/usr/bin/python3
"""A registry's credentials are in the memory of the client that speaks with it, and in no other process of a pull: not in its
caller's, and not in that of whoever unpacks the archive; those of other registries and the environment are in neither's."""
import base64
import json
import os
import signal
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
import fake_registry
import images
from images import Store
from pf import *

if os.geteuid() != 0:
    skip_all("needs root to read a process's memory")


def memory(pid):
    """All that the process can read of its own."""
    found = b""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps, open(f"/proc/{pid}/mem", "rb", buffering=0) as mem:
        for line in maps:
            span, modes = line.split()[:2]
            begin, end = (int(part, 16) for part in span.split("-"))
            if not modes.startswith("r") or "[v" in line:
                continue
            mem.seek(begin)
            while begin < end:
                data = mem.read(min(end - begin, 1 << 20))
                if not data:
                    break
                found += data
                begin += len(data)
    return found


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
        return file.read().split()


def held(pid, what):
    """Which of these are in its memory: the words as they are, and what a header has of them."""
    data = memory(pid)
    return sorted(name for name, text in what.items() if text in data)


def pair(user, password):
    return base64.b64encode(f"{user}:{password}".encode())


half, let_go = threading.Event(), threading.Event()
OURS, OTHERS, WORD = pair("tester", "Zq8-ours-4711"), pair("tester", "Zq8-others-4712"), b"Zq8-environment-4713"
entries = {f"etc/{number}": b"x" * 20000 for number in range(8000)}
data = images.layer(images.busybox_tree(**entries))
conf = images.config([data], Cmd=["/bin/true"])
server = fake_registry.Registry()
server.blob("a", conf)
path = server.blob("a", data)
server.manifest("a", "v1", {"schemaVersion": 2, "mediaType": fake_registry.MANIFEST, "config": fake_registry.media(fake_registry.CONFIG, conf),
                            "layers": [fake_registry.media(fake_registry.OCI + "layer.v1.tar", data)]})


def pause(handler, count):
    half.set()
    let_go.wait(60)
    return False


server.every = lambda h, n: h.headers.get("Authorization") != f"Basic {OURS.decode()}" and (h.answer(401, {"WWW-Authenticate": "Basic realm=x"}) or True)
server.faults[path] = lambda h, n: server.every(h, n) or pause(h, n)
auth = os.path.join(tmpdir(), "config.json")
with open(auth, "w", encoding="utf-8") as file:
    json.dump({"auths": {"other.test": {"auth": OTHERS.decode()}, server.name: {"auth": OURS.decode()}}}, file)
os.chmod(auth, 0o644)
# The name is in the words of the command, of which every fork has a copy: what is found is what is there.
LOOKED_FOR = {"ours": OURS, "the others'": OTHERS, "the environment's": WORD, "the name": f"{server.name}/a:v1".encode()}
store = Store()
with store.start("image", "pull", "--insecure-registry", "--auth-file", auth, f"{server.name}/a:v1", env={"SOME_TOKEN": WORD.decode()}) as running:
    half.wait(60)
    clients = children(running.pid)
    is_(len(clients), 1, "while a blob is under way there is one child", clients)
    is_(held(clients[0], LOOKED_FOR), ["ours", "the name"], "control: the client has the credentials, and nothing of the others'")
    is_(held(running.pid, LOOKED_FOR), ["the environment's", "the name"], "its caller has its own environment, and no credentials")
    let_go.set()
    unpackers = []

    def unpacking():
        """The child with a tree in its root, stopped."""
        for pid in children(running.pid):
            try:
                if pid not in clients and os.path.isdir(f"/proc/{pid}/root/rootfs/etc"):
                    os.kill(int(pid), signal.SIGSTOP)
                    unpackers.append(pid)
            except (FileNotFoundError, ProcessLookupError):
                pass
        return unpackers or running.process.poll() is not None
    wait_for(unpacking, 60, what="the process that unpacks")
    is_(len(unpackers), 1, "the archive is unpacked by another child", unpackers)
    if unpackers:
        is_(held(unpackers[0], LOOKED_FOR), ["the name"], "which has neither credentials nor environment")
        is_(held(running.pid, LOOKED_FOR), ["the environment's", "the name"], "nor has its caller by now")
        os.kill(int(unpackers[0]), signal.SIGCONT)
    is_(running.wait().code, 0, "and the image is there")
done()
