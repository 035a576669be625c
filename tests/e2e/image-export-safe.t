#!/usr/bin/python3
"""AR12: a tar that pinfold writes of an image can be given to any unpacker: GNU tar, libarchive and Python's data filter take
all of it without a warning, and nothing is anywhere but in the folder that it was unpacked into."""
import io
import os
import subprocess
import sys
import tarfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from images import *
from pf import *

store = Store()
LONG = "d" * 120
entries = {"bin/busybox": b"x", "bin/sh": ("link", "busybox"), "etc/abs": ("link", "/etc/passwd"), "up": ("link", "../../../../etc/passwd"), "hard": ("hard", "bin/busybox"),
           "-rf": b"x", "new\nline": b"x", "esc\x1b[2J": b"x", "back\\slash": b"x", "gr\u00fc\u00df": b"x", f"{LONG}/{LONG}/{LONG}": b"long", "closed": ("dir", 0o500), "closed/in": b"x",
           "suid": ("file", b"x", 0o6755, 0, 0), "world": ("file", b"x", 0o666, 1, 1), "tmp": ("dir", 0o1777), "loop": ("link", "loop"), ".hidden": b"", "dangling": ("link", "n" * 150)}
path = os.path.join(tmpdir(), "tree.tar")
with open(path, "wb") as file:
    file.write(layer(entries))
run = store.image("load", "--as", "tree", path, "hostile")
if run.code != 0:
    run = store.image("load", "--as", "tree", "--name", "hostile", path)
is_(run.code, 0, "a tree with names and links of all kinds is stored", run)
exported = store.image("export", "hostile")
is_(exported.code, 0, "and exported", exported.err)
names = {member.name for member in tarfile.open(fileobj=io.BytesIO(exported.out))}
is_({name for name in names if name.startswith("/") or ".." in name.split("/")}, set(), "no name is absolute or climbs")
# The two links that lead out of the tree are what the image says; no unpacker that is careful makes them.
outward = {"etc/abs", "up"}


def inside(name, unpack, left_out=()):
    outer = tmpdir()
    folder = os.path.join(outer, "in")
    os.mkdir(folder)
    beside = os.path.join(outer, "beside")
    with open(beside, "w", encoding="ascii") as file:
        file.write("same")
    said = unpack(folder)
    is_(said, "", f"{name}: without a warning")
    found = {os.path.relpath(os.path.join(place, entry), folder) for place, folders, files in os.walk(folder) for entry in folders + files}
    want = {member.rstrip("/") for member in names if member not in (".", "./")} - set(left_out)
    want = {member[2:] if member.startswith("./") else member for member in want}
    is_(found, want, f"{name}: all of it is there")
    is_((sorted(os.listdir(outer)), open(beside, encoding="ascii").read()), (["beside", "in"], "same"), f"{name}: and nothing beside it")


def gnu(folder):
    run = subprocess.run(["tar", "-C", folder, "--no-same-owner", "-xf", "-"], input=exported.out, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return run.stdout.decode() + ("" if run.returncode == 0 else f"code {run.returncode}")


def outside(member):
    """What Python's data filter refuses, for a Python that has none yet: names and targets that lead out, and what is no file."""
    places = [member.name]
    if member.issym():
        places = [member.name, member.linkname if member.linkname.startswith("/") else os.path.join(os.path.dirname(member.name), member.linkname)]
    elif member.islnk():
        places = [member.name, member.linkname]
    elif not (member.isfile() or member.isdir()):
        return True
    return any(os.path.normpath(place).split("/")[0] in ("", "..") for place in places)


def python(folder):
    refused = set()
    with tarfile.open(fileobj=io.BytesIO(exported.out)) as tar:
        for member in tar:
            if hasattr(tarfile, "data_filter"):
                try:
                    tar.extract(member, folder, filter="data")
                except tarfile.FilterError:
                    refused.add(member.name.removeprefix("./"))
            elif outside(member):
                refused.add(member.name.removeprefix("./"))
            else:
                tar.extract(member, folder, set_attrs=False)
    return "" if refused == outward else str(refused)


def libarchive(folder):
    """Into a sandbox, whose unpacker is libarchive; what is there has its names made anew outside."""
    again = os.path.join(tmpdir(), "again.tar")
    with open(again, "wb") as file:
        file.write(exported.out)
    run = pinfold("run", "--input", again + ":in:unpack", "@host", "sh", "-c", "find /scratch -mindepth 1 -maxdepth 1 -print0; cd in && find . -mindepth 1 -print0")
    if run.status != "exited":
        return run.message
    beside, *found = run.out.split(b"\0")[:-1]
    for entry in found:
        os.makedirs(os.path.join(os.fsencode(folder), os.path.normpath(entry)), exist_ok=True)
    return "" if beside == b"/scratch/in" else str(beside)


inside("GNU tar", gnu)
inside("Python's data filter", python, outward)
inside("libarchive", libarchive)
done()
