#!/usr/bin/python3
"""The digest of an artifact is that of the file that was kept: whatever its size, with holes, one of many, in a tree, after a validator;
and the same where the processor's own instructions for it are not to be used."""
import hashlib
import json
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

KIB, MIB = 1 << 10, 1 << 20
# Around a block of SHA-256 and its padding, what the collector reads itself, the first file that has a thread, a block of the thread, all of its blocks.
EDGES = (64, 8 * KIB, 16 * KIB, 256 * KIB, 8 * 256 * KIB)
SIZES = sorted({0, 1, 55, 56, 119, 120, 3 * MIB + 77} | {edge + more for edge in EDGES for more in (-1, 0, 1)})
WITHOUT = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-SSSE3"}  # hash_begin() takes libmd then
source = tmpdir()
chance = random.Random(2)
want = {}


def make(name, data):
    """A file of the input, and what its digest must be."""
    with open(os.path.join(source, name), "wb") as file:
        file.write(data)
    want[name] = (len(data), hashlib.sha256(data).hexdigest())


for size in SIZES:
    make(f"{size:07}", chance.randbytes(size))


def collect(rule, script="cat", env=None):
    """The Run and its rows by path, and the folder."""
    out = os.path.join(tmpdir(), "out")
    run = pinfold("run", "--input", f"{source}:in", "--artifact", rule, "--artifacts-dir", out, "@host", "sh", "-c", script, env=env)
    return run, {row["path"]: row for row in run.result["artifacts"]}, out


def kept(rows, out):
    """{path: (size, digest)} of what is in the folder, as sha256sum(1) has it."""
    paths = {os.path.join(out, row["file"]): path for path, row in rows.items() if row["file"]}
    lines = subprocess.run(["sha256sum", "--zero", *sorted(paths)], check=True, capture_output=True, text=True).stdout.split("\0")
    return {paths[line[66:]]: (os.stat(line[66:]).st_size, line[:64]) for line in lines if line}


for env, name in ((None, "as this processor does it"), (WITHOUT, "by libmd")):
    run, rows, out = collect("in/*", env=env)
    told = {path: (row["size"], row["sha256"]) for path, row in rows.items() if row["status"] == "kept"}
    is_(told, {f"in/{path}": value for path, value in want.items()}, f"{len(SIZES)} sizes, {name}: those of what the program left", run)
    is_(kept(rows, out), told, "and of what is in the folder")

    # The listing of a flat folder has each file's digest.
    run, rows, out = collect("in:type=tree", "chmod 700 in; chmod 600 in/*", env=env)
    listing = "d 700 \0" + "".join(f"f 600 {size} {digest} {path}\0" for path, (size, digest) in sorted(want.items())) + "u\0"
    is_((rows["in"]["status"], rows["in"]["sha256"]), ("kept", hashlib.sha256(listing.encode()).hexdigest()), f"in a tree, {name}", run)

    # Holes at the begin, in the middle, at the end, alone; ends that fit no block.
    run, rows, out = collect("holes/*", "mkdir holes; cd holes; truncate -s 1M none; truncate -s 1000001 alone; for at in 0 1 31 32 100 255; do "
                             "truncate -s 1050001 at$at; dd if=../in/0262145 of=at$at bs=4K seek=$at conv=notrunc; done 2>/dev/null", env=env)
    told = {path: (row["size"], row["sha256"]) for path, row in rows.items()}
    is_((len(told), {row["status"] for row in rows.values()}, kept(rows, out)), (8, {"kept"}, told), f"with holes, {name}", run)
    is_(told["holes/alone"], (1000001, hashlib.sha256(bytes(1000001)).hexdigest()), "which are zeroes")

# ---- many, whose digests come after one another, and one that a validator looked at between others ----
run, rows, out = collect("many/*", "mkdir many; i=0; while [ $i -lt 400 ]; do head -c $((i * 97)) in/0262144 > many/$i; i=$((i + 1)); done")
told = {path: (row["size"], row["sha256"]) for path, row in rows.items()}
is_((len(told), kept(rows, out)), (400, told), "400 files: each has its own", run)
text = json.dumps(list(range(60000))).encode()
make("list.json", text)
run = pinfold("run", "--input", f"{source}:in", "--artifact", "in/2097153", "--artifact", "in/list.json:type=json", "--artifact", "in/2097152",
              "--artifacts-dir", os.path.join(tmpdir(), "out"), "@host", "true")
is_({row["path"][3:]: (row["size"], row["sha256"]) for row in run.result["artifacts"]}, {name: want[name] for name in ("2097153", "list.json", "2097152")},
    "before, with and after a validator", run)

done()
