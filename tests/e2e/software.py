"""Real software under the default filter and limits: where its tools are, and how it is run."""
import io
import os
import sys
import tarfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
import pf
from tap import diag, is_, ok, skip_all

__all__ = ["absent", "packed", "place_of", "runs", "run_in", "tools", "BUILDS"]

# What T58 asks for: nothing but resident memory counts, however large the address space of a JIT is.
LIMITS = ["--memory", "512M", "--scratch", "256M", "--pids", "512", "--wall", "280s", "--cpus", "2", "--output", "1M"]

# A compiler with its caches in the scratch needs more; the last flag of a kind counts.
BUILDS = ["--memory", "2G", "--scratch", "1G"]


def place_of(*names, host=True):
    """The image that has all of them: build/rootfs/languages (scripts/rootfs languages), or this machine's own /usr
    unless host is false; None where neither has."""
    tree = os.path.join(pf.ROOT, "build/rootfs/languages")
    places = [(tree, lambda: pf.rootfs("languages"))] + ([("/", lambda: "@host")] if host else [])
    for place, image in places:
        if all(os.access(os.path.join(place, "usr/bin", name), os.X_OK) for name in names):
            diag(f"{', '.join(names)}: from {image()}")
            return image()
    return None


def absent(*names):
    """Why a test of theirs is skipped."""
    return f"no {' and '.join(names)} to be had: run scripts/rootfs languages"


def tools(*names, host=True):
    """place_of(); without it the whole test is skipped."""
    return place_of(*names, host=host) or skip_all(absent(*names))


def packed(files):
    """A tar of {name: text or bytes}, all of which may be executed."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for name, content in files.items():
            content = content.encode() if isinstance(content, str) else content
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), 0o755
            tar.addfile(entry, io.BytesIO(content))
    return archive.getvalue()


def run_in(image, script, *flags, files=None):
    """Run of a shell script in the scratch, with files put there first (they come by stdin as a tar)."""
    stdin = None
    if files:
        stdin = packed(files)
        script = "tar -xf - && " + script
        flags = ("--stdin", "-", *flags)
    return pf.pinfold("run", *LIMITS, *flags, image, "/bin/sh", "-ec", script, stdin=stdin, timeout=300)


def runs(name, run, want):
    """It ended well and said just this; what the filter denied on the way is shown."""
    is_((run.status, run.code, run.out.decode("utf-8", "replace")), ("exited", 0, want), name, run)
    denied = run.result["denied"]["syscalls"] if run.result else []
    if denied:
        diag(f"{name}: denied on the way: " + ", ".join(f"{row['name']} x{row['count']}" for row in denied))
    return ok(not (run.result and run.result["status"] == "foreign-abi"), f"{name}: nothing ended it")
