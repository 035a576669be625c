#!/usr/bin/python3
"""Inputs go in by copy: what the program finds is what its source is, links and holes included; it counts as the
program's own files do; and what does not fit is refused before anything starts, with the figures."""
import os
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

MIB = 1 << 20
source = tmpdir()
tree = os.path.join(source, "tree")


def put(path, data=b"x", mode=0o644):
    path = os.path.join(tree, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, mode)
    return path


put("a/file", b"contents\n", 0o640)
put("a/run.sh", b"#!/bin/sh\necho ran $1\n", 0o755)
put("empty", b"", 0o400)
put("odd \n\xff name".encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape"), b"odd")
put("large", bytes(range(256)) * 4096)  # 1 MiB: goes by splice
os.link(put("linked", b"one\n"), os.path.join(tree, "a/again"))
os.symlink("../../../../etc/passwd", os.path.join(tree, "a/link"))
os.symlink("nowhere", os.path.join(tree, "dangling"))
with open(put("sparse", b""), "r+b") as file:
    file.truncate(64 * MIB)
    file.seek(32 * MIB)
    file.write(b"middle")
os.utime(os.path.join(tree, "a/file"), (1, 1234567890))
os.makedirs(os.path.join(tree, "closed/in"))
os.chmod(os.path.join(tree, "closed"), 0o500)
os.chmod(os.path.join(tree, "a"), 0o2751)
if os.geteuid() == 0 and WHO == "user":
    subprocess.run(["chown", "-Rh", f"{os.stat(source).st_uid}:{os.stat(source).st_gid}", tree], check=True)
os.chmod(os.path.join(tree, "a"), 0o2751)

LIST = r'cd "$1" && find . -printf "%P|%y|%m|%n|%s|%l\n" | LC_ALL=C sort'


def listing(text):
    """Of find; the size of a folder is its file system's affair."""
    rows = [row.split(b"|") for row in text.split(b"\n") if row.count(b"|") == 5]
    return sorted(tuple(row[:1] + [b""] + row[2:3] + row[5:]) if row[1] == b"d" else tuple(row) for row in rows)


want = listing(subprocess.run(["sh", "-c", LIST, "sh", tree], check=True, stdout=subprocess.PIPE).stdout)
host = ["@host", "sh", "-c"]
run = pinfold("run", "--input", tree, *host, LIST, "sh", "/scratch/tree")
is_(listing(run.out), want, "types, modes, link counts, sizes and targets are the source's", run)
run = pinfold("run", "--input", tree + ":sub/place", *host,
              "cat sub/place/a/file; sub/place/a/run.sh now; stat -c %Y sub/place/a/file; du -k sub/place/sparse; "
              "cmp sub/place/linked sub/place/a/again && test sub/place/linked -ef sub/place/a/again && echo same; "
              "dd if=sub/place/sparse bs=1 skip=33554432 count=6 2>/dev/null; echo; sha256sum < sub/place/large; "
              "echo more > sub/place/a/new && echo writable")
digest = subprocess.run(["sha256sum"], stdin=open(os.path.join(tree, "large"), "rb"), stdout=subprocess.PIPE, check=True).stdout
is_(run.out.replace(digest, b"DIGEST\n"),
    b"contents\nran now\n1234567890\n4\tsub/place/sparse\nsame\nmiddle\nDIGEST\nwritable\n", "and so are contents, times and holes", run)
is_(run.result["usage"]["scratch_inodes"], 16, "inodes are counted: 14 names in the tree, sub, and what was made")
run = pinfold("run", "--input", tree + ":.", "--workdir", "/scratch/a", *host, "ls; ls -d /scratch/tree")
ok(run.out.split()[:2] == [b"again", b"file"] and b"No such file" in run.err, "the destination . takes the contents, and the workdir may be one of them", run)
run = pinfold("run", "--input", os.path.join(tree, "a/file") + ":one", "--input", tree + "/a:two", *host, "cat one two/file")
is_(run.out, b"contents\n" * 2, "a file, and two inputs", run)
link = os.path.join(source, "link")
os.symlink(tree, link)
is_(pinfold("run", "--input", link + ":l", *host, "cat l/a/file").out, b"contents\n", "the source itself may be a link")

# ---- read-only ----
run = pinfold("run", "--input-ro", tree, *host,
              "cat /run/input/tree/a/file; echo x > /run/input/tree/a/file; rm -f /run/input/tree/empty; mv /run/input /run/other; "
              "chmod 777 /run/input/tree; ln /run/input/tree/a/file here; rmdir /run/input; ls /scratch; grep -c ' /run/input ro,' /proc/self/mountinfo")
is_(run.out, b"contents\n1\n", "--input-ro is read, and there is no way to change it", run)
is_((run.err.count(b"Read-only file system"), run.err.count(b"busy")), (3, 2), "which is what its mount says", run.err.decode())
is_(pinfold("run", "--input", tree, *host, "ls -A /run").out, b"", "without one there is no such place")

# ---- limits ----
def refused(options, words, name, **more):
    result = pinfold("run", *options, tiny(), "/bin/payload", "exit", "0", **more)
    ok(result.status == "refused" and result.code == 125 and all(word in result.message for word in words), name, result)
    return result


blob = put("blob", bytes(3 * MIB))
refused(["--scratch", "2M", "--input", blob], ["3145728 bytes", "2M"], "more bytes than the scratch has are refused, with the figures")
is_(pinfold("run", "--scratch", "4M", "--input", blob, tiny(), "/bin/payload", "exit", "3").code, 3, "what fits goes in")
is_(pinfold("run", "--scratch", "2M", "--input", os.path.join(tree, "sparse"), tiny(), "/bin/payload", "exit", "3").code, 3, "holes cost nothing")
for number in range(2):
    put(f"more{number}")
refused(["--scratch-inodes", "16", "--input", tree], ["raise --scratch-inodes", "are 17 files and folders", "16"], "so are more files")
is_(pinfold("run", "--scratch-inodes", "17", "--input", tree, tiny(), "/bin/payload", "exit", "3").code, 3, "just as many fit")
refused(["--memory", "16M", "--scratch", "32M", "--input", blob], ["scratch 32M is larger than memory 16M"], "and a scratch larger than the memory")
run = pinfold("run", "--scratch", "4M", "--input", blob, tiny(), "/bin/payload", "tmpfs", "2M")
is_(run.out, b"tmpfs %d ENOSPC\n" % (1 * MIB), "an input takes its share of the scratch", run)
deep = os.path.join(source, "deep")
os.makedirs(os.path.join(deep, *["d"] * 255))
is_(pinfold("run", "--input", deep, tiny(), "/bin/payload", "exit", "3").code, 3, "256 folders deep")
os.makedirs(os.path.join(deep, *["d"] * 256))
refused(["--input", deep], ["deeper than 256"], "and no deeper")
refused(["--input", tree + ":x", "--input", tree + ":x/y"], ["one destination"], "two inputs in one place")
refused(["--input", os.path.join(source, "none")], ["No such file"], "a source that is not there")
refused(["--input", tree + "/empty:."], ["no folder"], "a file has no contents to put into .")

# ---- special files ----
for kind, make in (("FIFO", os.mkfifo), ("socket", lambda path: socket.socket(socket.AF_UNIX).bind(path))):
    folder = tmpdir()
    special = os.path.join(folder, "special")
    make(special)
    refused(["--input", special], [kind], f"a {kind} is refused")
    refused(["--input", folder + ":f"], [kind, f"input {folder} is refused: special is a"], "and a folder with one, by its name there, not inside")

run = pinfold("explain", "--scratch", "2M", "--input", blob, tiny(), "/bin/payload")
ok(run.code == 125 and b"3145728 bytes" in run.err, "explain refuses in the same words", run)
run = pinfold("explain", "--scratch", "4M", "--input", blob + ":x/y", "--artifact", "o:type=csv:required", "--artifacts-dir", os.path.join(source, "none"), tiny(), "/bin/payload")
ok(run.code == 0 and f"{blob} to /scratch/x/y\n".encode() in run.out and b"3145728 bytes and 2 names" in run.out and b"o: csv, 67108864 bytes at most, required" in run.out,
   "and prints what goes in and what is to come out", run)
run = pinfold("run", "--input", tree, *host, "true", events=True)
ok("inputs" in [event.get("name") for event in run.events], "the events tell of the stage", str(run.events)[:500])

# T71: the supervisor killed while the stream runs
big = put("big", b"")
with open(big, "r+b") as file:
    file.truncate(0)
    for _ in range(64):
        file.write(os.urandom(MIB))
with start("run", "--scratch", "128M", "--input", big, tiny(), "/bin/payload", "exit", "0", events=True) as running:
    wait_for(lambda: os.path.exists(running.events_file) and b"inputs" in open(running.events_file, "rb").read(), what="the stage")
    children = subprocess.run(["pgrep", "-P", str(running.pid)], stdout=subprocess.PIPE, text=True, check=False).stdout.split()
    running.process.kill()
    running.process.wait()
    wait_for(lambda: not any(os.path.exists(f"/proc/{pid}") and open(f"/proc/{pid}/stat").read().split(") ")[1][0] != "Z"
                             for pid in children), what="the end of sender and pid 1")
ok(True, "a killed supervisor takes sender and sandbox along")
done()
