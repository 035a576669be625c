"""What the tests of the registry's client share: layers, a registry that has them, and a pull."""
import base64
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *
from fake_registry import *

PULL = staged(os.path.join(BUILD, "tests/image-pull"))
NOISE = random.Random(3)
BIG, SMALL = layer("big", NOISE.randbytes(3 << 20)), layer("small", b"small")
BLOB, SIZE = digest(BIG[0]), len(BIG[0])
HALF = SIZE // 2


class Pulled:
    """One pull into a folder: its Run, and what is in the folder."""

    def __init__(self, server, name, *options, folder=None, env=None):
        self.folder = folder or tmpdir()
        self.run = pinfold("insecure=1", *options, f"{server.name}/{name}" if server else name, self.folder, program=PULL, env=env)
        self.ok, self.err = self.run.code == 0, self.run.err.decode()
        self.out = self.run.out.decode().splitlines()

    def blob(self, name):
        path = os.path.join(self.folder, name.split(":")[1])
        if not os.path.exists(path):
            return None
        with open(path, "rb") as file:
            return file.read()

    def whole(self, *layers):
        return self.ok and all(self.blob(digest(data)) == data for data, _ in layers or (BIG,))

    def retries(self):
        return [line for line in self.out if line.startswith("retry")]

    def __str__(self):
        return str(self.run)


def fresh(*layers, **more):
    server = Registry()
    server.image("x", "v1", layers or (BIG,), **more)
    return server


def blob_path(name=BLOB):
    return f"/v2/x/blobs/{name}"


def broken(fault, *options, path=None, **more):
    """A pull from a registry with one fault in it."""
    server = fresh()
    server.faults[path or blob_path()] = fault
    return server, Pulled(server, "x:v1", "retries=2", *options, **more)


def auth_file(entries, **more):
    path = os.path.join(tmpdir(), "config.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"auths": entries, **more}, file)
    os.chmod(path, 0o644)
    return path


def basic(user, password):
    return base64.b64encode(f"{user}:{password}".encode()).decode()
