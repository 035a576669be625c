#!/usr/bin/python3
"""A command that cannot be executed is told apart by what is wrong with it: 127 where a shell says not found,
126 where it says cannot execute, status exec-failed, and a message that names the file and the reason."""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

EM_386, EM_AARCH64, EM_X86_64 = 3, 183, 62


def elf(machine):
    """The header of a 64-bit little-endian program for machine, without any content (elf(5))."""
    ident = b"\x7fELF" + bytes([2, 1, 1, 0]) + bytes(8)
    return ident + struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, 0x400000, 64, 0, 0, 64, 56, 0, 0, 0, 0)


other = EM_X86_64 if os.uname().machine == "aarch64" else EM_AARCH64
tree = image({
    "bin/payload": ("copy", payload_path()),
    "bin/dynamic": ("copy", "/usr/bin/true"),
    "bin/crlf": b"#!/bin/payload\r\necho hello\r\n",
    "bin/lost": b"#!/usr/bin/perl -w\n",
    "bin/foreign": elf(other),
    "bin/stub": elf(EM_X86_64 if other == EM_AARCH64 else EM_AARCH64),
    "bin/short": b"\x7fELF\x02\x01\x01",
    "bin/folder": ("dir", 0o755),
    "bin/plain": ("file", b"#!/bin/payload echo\n", 0o644),
    "bin/empty": b"",
    "bin/text": b"echo hello\n",
    "bin/dangling": ("link", "/nowhere/at/all"),
    "bin/loop": ("link", "loop"),
    "bin/script": b"#!/bin/payload echo\n",
})

NOT_FOUND = {
    "/bin/nothing": r"/bin/nothing: not found in the image",
    "nothing": r"nothing: not found in the image.*PATH",
    "/bin/payload/x": r"/bin/payload/x",
    "/bin/dynamic": r"/bin/dynamic: its interpreter /lib\S*/ld-\S+ is not in the image",
    "/bin/lost": r"/bin/lost: its interpreter /usr/bin/perl is not in the image",
    "/bin/crlf": r"/bin/crlf: .*carriage return",
    "/bin/dangling": r"/bin/dangling",
}
NOT_EXECUTABLE = {
    "/bin/foreign": r"/bin/foreign: wrong architecture: \S+",
    "/bin/short": r"/bin/short: a truncated ELF",
    "/bin/stub": r"/bin/stub: the kernel refuses this ELF file",
    "/bin/folder": r"/bin/folder: a folder",
    "/bin/plain": r"/bin/plain: not executable, its mode is 0644",
    "plain": r"/bin/plain: not executable, its mode is 0644",
    "/bin/empty": r"/bin/empty: an empty file",
    "/bin/text": r"/bin/text: neither an ELF program nor a script",
    "/bin/loop": r"/bin/loop",
    "/proc/self/mem": r"/proc/self/mem",
    "/dev/null": r"/dev/null: not a regular file",
}


def check(word, code, pattern):
    run = pinfold("run", tree, word)
    good = run.code == code and run.status == "exec-failed" and run.result["exit"] == {"code": None, "signal": None}
    ok(good, f"{word}: exec-failed, {code}", run)
    like(run.message, pattern, f"{word}: the reason is given")
    like(run.err.decode(), pattern, f"{word}: on stderr too")
    is_(run.out, b"", f"{word}: nothing ran")


for word, pattern in NOT_FOUND.items():
    check(word, 127, pattern)
for word, pattern in NOT_EXECUTABLE.items():
    check(word, 126, pattern)

run = pinfold("run", tree, "/bin/script", "yes")
is_((run.status, run.out), ("exited", b"/bin/script yes\n"), "a script with a good first line runs", run)
run = pinfold("run", tree, "payload", "exit", "3")
is_((run.status, run.code), ("exited", 3), "a bare word is found in PATH", run)
run = pinfold("run", "--env", "PATH=/nowhere:/bin", tree, "payload", "exit", "4")
is_((run.status, run.code), ("exited", 4), "PATH of --env decides", run)
run = pinfold("run", "--env", "PATH=/nowhere", tree, "payload", "exit", "4")
is_((run.status, run.code), ("exec-failed", 127), "a PATH without it: 127", run)

# Open for writing on the host: ETXTBSY, where the kernel sees it (not through an overlay, nor in 6.11 and 6.12).
with open(os.path.join(tree, "bin/busy"), "wb") as busy:
    with open(payload_path(), "rb") as source:
        busy.write(source.read())
    busy.flush()
    os.chmod(busy.name, 0o755)
    run = pinfold("run", tree, "/bin/busy", "exit", "6")
    seen = run.status == "exec-failed"
    is_(run.code, 126 if seen else 6, "a program open for writing: 126, or the kernel runs it", run)
    ok(not seen or "busy" in run.message, "and the message says busy", run)
done()
