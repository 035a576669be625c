#!/usr/bin/python3
"""scripts/grammars takes what its pins say, byte for byte, and nothing else; what it refuses leaves no grammar behind."""
import base64
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *


def package(abi=14, **more):
    out = io.BytesIO()
    files = {"LICENSE": b"MIT\n", "src/parser.c": b"#define LANGUAGE_VERSION %d\n" % abi, "src/scanner.c": b"", "src/tree_sitter/parser.h": b"",
             "package.json": b'{"scripts": {"install": "touch ran"}}', "src/binding.cc": b"", **more}
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo("package/" + name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def integrity(data):
    return "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()


class Place:
    """A checkout of these scripts alone, and an npm that gives what it is told."""

    def __init__(self, data, pin=None, pack=None):
        self.path = tmpdir("root")
        os.makedirs(os.path.join(self.path, "scripts"))
        os.makedirs(os.path.join(self.path, "bin"))
        for name in ("grammars", "common.sh"):
            shutil.copy(os.path.join(ROOT, "scripts", name), os.path.join(self.path, "scripts", name))
        self.write("scripts/grammars.pins", f"# a remark\n\ntree-sitter-x 1.2.3 {pin or integrity(data)} src\n".encode())
        self.write("package.tgz", data)
        self.write("bin/npm", (pack or '#!/bin/sh\necho "$@" >>"%s/asked"\n[ "$1 $2 $3" = "pack --silent --ignore-scripts" ] && cp "%s/package.tgz" "tree-sitter-x-1.2.3.tgz"\n'
                               % (self.path, self.path)).encode())
        os.chmod(os.path.join(self.path, "bin/npm"), 0o755)

    def write(self, name, data):
        with open(os.path.join(self.path, name), "wb") as file:
            file.write(data)

    def run(self):
        return subprocess.run([os.path.join(self.path, "scripts/grammars")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              env={**os.environ, "PATH": os.path.join(self.path, "bin") + ":" + os.environ["PATH"]})

    def asked(self):
        path = os.path.join(self.path, "asked")
        return open(path).read().count("\n") if os.path.exists(path) else 0

    def has(self):
        top = os.path.join(self.path, "build/grammars")
        return sorted(os.path.relpath(os.path.join(folder, name), top) for folder, _, names in os.walk(top) for name in names)


good = Place(package())
run = good.run()
is_(run.returncode, 0, "what is pinned is taken", run.stdout)
is_(good.has(), ["ready", "tree-sitter-x/LICENSE", "tree-sitter-x/src/parser.c", "tree-sitter-x/src/scanner.c", "tree-sitter-x/src/tree_sitter/parser.h"], "the parser, its scanner, its headers and the licence, and no more")
is_((good.run().returncode, good.asked()), (0, 1), "what is there is not fetched again")
good.write("scripts/grammars.pins", open(os.path.join(good.path, "scripts/grammars.pins"), "rb").read() + b"# changed\n")
is_((good.run().returncode, good.asked()), (0, 2), "with other pins it is")

for what, place, why in (
        ("a byte more", Place(package() + b"\0", pin=integrity(package())), b"is not what was pinned"), ("a pin of another kind", Place(package(), pin="sha1-AAAA"), b"the pin is no sha512"),
        ("another ABI", Place(package(abi=15)), b"not of ABI 14"), ("an npm that fails", Place(package(), pack="#!/bin/sh\nexit 1\n"), b"npm could not fetch")):
    run = place.run()
    ok(run.returncode != 0 and why in run.stdout, f"{what}: refused, and why", run.stdout)
    is_(place.has(), [], f"{what}: nothing is left")
done()
