#!/usr/bin/python3
"""--stdout FILE and --stderr FILE, and a caller whose stdout is a file, get every byte; the program can neither reopen, cut,
read nor change that file, for what it has is a pipe."""
import fcntl
import os
import resource
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

payload = [tiny(), "/bin/payload"]
folder = tmpdir()
out, err = os.path.join(folder, "out"), os.path.join(folder, "err")


def content(path):
    with open(path, "rb") as file:
        return file.read()


run = pinfold("run", "--stdout", out, "--stderr", err, *payload, "all-bytes", ",", "spam", "stderr", "30", ",", "exit", "3")
is_((run.status, run.code, run.out), ("exited", 3, b""), "two files", run)
is_((content(out), content(err)), (bytes(range(256)), b"abcdefghijklmnopqrstuvwxyzabcd"), "with every byte")
is_(os.stat(out).st_mode & 0o7777, 0o644, "a new file has the usual mode")
is_((run.result["output"]["stdout"]["bytes"], run.result["output"]["stderr"]["bytes"]), (256, 30), "counted in the result")
run = pinfold("run", "--stdout", out, *payload, "echo", "x")
is_(content(out), b"x\n", "an old file is replaced, not mixed")

for name, what in (folder, "a folder"), (os.path.join(folder, "missing/out"), "a missing folder"), \
        (os.path.join(out, "x"), "a file in a file"):
    for option in "--stdout", "--stderr":
        run = pinfold("run", option, name, *payload, "echo", "ran")
        is_((run.status, run.code, run.out), ("refused", 125, b""), f"{option} {what}: refused", run)
        ok(name in run.message, "by its name", run)
run = pinfold("run", "--stdout", out, "--stderr", out, *payload, "echo", "ran")
is_((run.status, run.code), ("refused", 125), "one file for both: refused", run)
if WHO == "user" and os.geteuid() == 0:
    run = pinfold("run", "--stdout", "/etc/passwd", *payload, "echo", "ran")
    is_((run.status, run.code), ("refused", 125), "a file that the caller may not write: refused", run)

# What cannot be delivered is our failure, whatever the program made of it: even one that has ended well meanwhile.
for option, stream, verb in ("--stdout", "stdout", ["echo", "hello"]), ("--stderr", "stderr", ["spam", "stderr", "100K"]):
    run = pinfold("run", option, "/dev/full", *payload, *verb)
    is_((run.status, run.code, run.result["ok"]), ("lost", 125, False), f"{option} to a full disk: lost", run)
    is_((run.evidence.get("lost"), run.result["cause"]["stage"]), (f"{stream}: ENOSPC", "output"), "with the errno", run)
    like(run.message, rf"^{stream} cannot be written to /dev/full: No space left on device; make room", "the file, and the way out")
    is_(run.result["output"][stream]["truncated"], True, "cut is cut", run)
run = pinfold("run", "--stdout", out, *payload, "spam", "stdout", "100K", result=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
is_((run.code, os.path.getsize(out)), (125, 4096), "over the caller's limit on file sizes: lost", run)
like(run.err.decode(), r"^pinfold: lost in output: stdout cannot be written to .*: File too large; .*ulimit -f", "by its name")

# TT04, TT06: what the program does to its own descriptors.
log = os.path.join(folder, "log")
PROGRAM = """
import os, sys
os.write(1, b'one\\n')
seen = []
def attempt(name, call, *args):
    try:
        call(*args)
        seen.append(name + ' -')
    except OSError as e:
        seen.append(name + ' ' + os.strerror(e.errno))
for path in '/proc/self/fd/1', '/dev/stdout', '/dev/fd/1', '/proc/self/fd/2', '/dev/stderr', '/proc/1/fd/1':
    for flags in os.O_WRONLY | os.O_TRUNC, os.O_RDWR | os.O_TRUNC:
        attempt('open', os.open, path, flags | os.O_NONBLOCK)
attempt('ftruncate', os.ftruncate, 1, 0)
attempt('lseek', os.lseek, 1, 0, 0)
attempt('fchmod', os.fchmod, 1, 0o777)
attempt('fchown', os.fchown, 1, 0, 0)
attempt('setxattr', os.setxattr, '/proc/self/fd/1', 'user.x', b'1')
attempt('utime', os.utime, 1, (0, 0))
attempt('fallocate', os.posix_fallocate, 1, 0, 4096)
attempt('read', os.pread, 1, 10, 0)
os.write(1, b'two\\n')
"""
for mode in "wb", "ab":
    with open(log, "wb") as file:
        file.write(b"earlier\n")
    os.chmod(log, 0o640)
    with open(log, mode) as file:
        before = os.fstat(file.fileno())
        flags = fcntl.fcntl(file, fcntl.F_GETFL)
        run = pinfold("run", rootfs("python"), "python3", "-c", PROGRAM, stdout=file)
        after = os.fstat(file.fileno())
        is_((run.status, run.code), ("exited", 0), f"{mode}: the program tries what it can", run)
        is_(fcntl.fcntl(file, fcntl.F_GETFL), flags, f"{mode}: the caller's flags are as they were")
    is_(content(log), b"earlier\none\ntwo\n" if mode == "ab" else b"one\ntwo\n", f"{mode}: the file has what was written, and all of it")
    is_((after.st_mode, after.st_uid, after.st_gid, after.st_atime_ns), (before.st_mode, before.st_uid, before.st_gid, before.st_atime_ns),
        f"{mode}: mode, owner and times are the caller's affair")
    is_(os.listxattr(log), [], f"{mode}: no attribute came")
run = pinfold("run", *payload, "fds")
like(run.out, rb"^fd 1 pipe:.*\nfd 2 pipe:", "stdout and stderr are pipes")

# Both into one place, in the order of writing as far as two pipes can have one.
run = pinfold("run", *payload, "echo", "a", ",", "spam", "stderr", "3", stderr=-2)
ok(b"a\n" in run.out and b"abc" in run.out, "2>&1 has both", run)
run = pinfold("run", *payload, "all-bytes")
is_(run.out, bytes(range(256)), "every byte comes through to a pipe")
done()
