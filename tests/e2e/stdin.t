#!/usr/bin/python3
"""The program reads nothing unless asked for; --stdin FILE and --stdin - are passed on to the byte, through a pipe that
leads to nothing of the caller's, and what cannot be read is refused."""
import fcntl
import hashlib
import os
import random
import socket
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *
import pf

payload = [tiny(), "/bin/payload"]
folder = tmpdir()
data = random.Random(7).randbytes((1 << 20) + 17)
path = os.path.join(folder, "data")
with open(path, "wb") as file:
    file.write(data)

for option in [], ["--stdin", "null"]:
    run = pinfold("run", *option, *payload, "cat", ",", "exit", "3", stdin=b"secret of the caller")
    is_((run.status, run.code, run.out), ("exited", 3, b""), f"{' '.join(option) or 'by default'}: nothing to read", run)

run = pinfold("run", "--stdin", "-", *payload, "cat", stdin=data)
ok(run.out == data and run.status == "exited", "a pipe of the caller's, 1 MiB of any bytes", run.status)
run = pinfold("run", "--stdin", path, *payload, "cat")
ok(run.out == data and run.status == "exited", "a file by name", run.status)
is_(run.result["output"]["stdout"]["sha256"], hashlib.sha256(data).hexdigest(), "with its digest")
with open(path, "rb") as file:
    file.seek(1000)
    flags = fcntl.fcntl(file, fcntl.F_GETFL)
    run = pinfold("run", "--stdin", "-", *payload, "cat", stdin=file)
    ok(run.out == data[1000:], "a file of the caller's, from where it stands")
    is_(fcntl.fcntl(file, fcntl.F_GETFL), flags, "and its flags are as they were")

ours, theirs = socket.socketpair()
with ours, theirs:
    feeder = threading.Thread(target=lambda: (ours.sendall(data), ours.shutdown(socket.SHUT_WR)), daemon=True)
    feeder.start()
    run = pinfold("run", "--stdin", "-", *payload, "cat", stdin=theirs)
    feeder.join(60)
    ok(run.out == data, "a socket of the caller's")
    run = pinfold("run", "--stdin", "-", *payload, "fds", stdin=theirs)
    like(run.out, rb"^fd 0 pipe:", "the program has a pipe, not the socket")

# Whoever does not read is not waited for.
run = pinfold("run", "--stdin", "/dev/zero", *payload, "exit", "3")
is_((run.status, run.code), ("exited", 3), "an endless file and a program that does not read", run)
run = pinfold("run", "--stdin", "/dev/zero", *payload, "close", "0", ",", "sleep", "0.1", ",", "exit", "3")
is_((run.status, run.code), ("exited", 3), "an endless file and a program that closes it", run)
run = pinfold("run", "--stdin", "/dev/zero", "--output", "1M", *payload, "cat")
is_((run.status, run.out), ("output-limit", bytes(1 << 20)), "an endless file and a program that reads", run.status)
with open(os.path.join(folder, "large"), "wb") as file:
    file.truncate(10 << 30)
run = pinfold("run", "--stdin", file.name, *payload, "exit", "3")
is_((run.status, run.code), ("exited", 3), "10 GiB and a program that does not read", run)
with start("run", "--stdin", "-", *payload, "echo", "ready", ",", "exit", "3", stdin=-1) as running:
    running.line()
    code = running.process.wait(60)  # the caller keeps its end open
    is_((code, running.wait().status), (3, "exited"), "a caller that does not close its end is not waited for")

# A mistake is refused, and nothing starts.
os.mkfifo(os.path.join(folder, "fifo"))
os.chmod(os.path.join(folder, "fifo"), 0o666)
for name, what in (os.path.join(folder, "missing"), "a missing file"), (folder, "a folder"), (os.path.join(path, "x"), "a file in a file"):
    run = pinfold("run", "--stdin", name, *payload, "echo", "ran")
    is_((run.status, run.code, run.out), ("refused", 125, b""), f"{what} is refused", run)
    ok(name in run.message, "by its name", run)
directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
run = pinfold("run", "--stdin", "-", *payload, "echo", "ran", stdin=directory)
is_((run.status, run.code, run.out), ("refused", 125, b""), "a folder as the caller's stdin is refused", run)
os.close(directory)
writer = os.open(path, os.O_WRONLY)
run = pinfold("run", "--stdin", "-", *payload, "echo", "ran", stdin=writer)
is_((run.status, run.code, run.out), ("refused", 125, b""), "a stdin that is open for writing only is refused", run)
os.close(writer)
if WHO == "user" and os.geteuid() == 0:
    run = pinfold("run", "--stdin", "/etc/shadow", *payload, "cat")
    is_((run.status, run.code, run.out), ("refused", 125, b""), "a file that the caller may not read is refused", run)

# What can be read no further is not the end of the input: the run is lost, and the program cannot take it for a whole.
# That may be met before the program runs.
LOST = ("lost", "setup-failed")
run = pinfold("run", "--stdin", "/proc/self/mem", *payload, "cat", ",", "echo", "all read")
is_((run.status in LOST, run.code, run.result["exit"]["code"]), (True, 125, None), "a file that fails to be read: lost", run)
like(run.message, r"stdin /proc/self/mem: Input/output error", "with its name and the error")
is_(run.result["cause"]["stage"], "stdio", "and the stage", run)
unlike(run.out, rb"all read", "and the program never saw an end of file")
with open("/proc/self/mem", "rb") as file:
    run = pinfold("run", "--stdin", "-", *payload, "cat", ",", "echo", "all read", stdin=file)
    is_((run.status in LOST, run.code), (True, 125), "so it is with a stdin of the caller's", run)
    like(run.message, r"stdin of the caller: Input/output error", "by whose it is, and the error")

STRACE = "/usr/bin/strace"


def faulty(options, *words):
    """A run whose supervisor's reads are faked: without -f strace sees no other process."""
    result = os.path.join(tmpdir(), "result.json")
    argv = [STRACE, "-qq", "-o", "/dev/null", *options, program_path(), "run", "--result", result, *words]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, cwd="/", timeout=60, check=False,
                          env=pf._environment(WHO), **pf._credentials(WHO))
    return Run(argv, done.returncode, done.stdout, done.stderr, 0, result, None)


if os.path.exists(STRACE):
    inject = lambda error, when: ["-P", path, "-e", "trace=read", "-e", f"inject=read:error={error}:when={when}"]
    run = faulty(inject("EIO", 2), "--stdin", path, *payload, "cat", ",", "echo", "all read")
    is_((run.status in LOST, run.code), (True, 125), "a disk that fails in the middle: lost", run.status)
    unlike(run.out, rb"all read", "and the program never saw an end of file")
    ok(path in run.message, "with the name of the file", run)
    for error in "EINTR", "EAGAIN":
        run = faulty(inject(error, 2), "--stdin", path, *payload, "cat")
        ok((run.status, run.out == data) == ("exited", True), f"{error} is no failure", run.status)
else:
    skip("needs strace", "reads that fail")

# A FIFO waits for its writer, as everywhere; the limits do not.
fifo = os.path.join(folder, "fifo")
run = pinfold("run", "--wall", "300ms", "--stdin", fifo, *payload, "cat")
is_(run.status, "wall-timeout", "a FIFO that nobody writes to: the limits count", run)
with start("run", "--stdin", fifo, *payload, "echo", "ready", ",", "cat") as running:
    running.line()
    with open(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK), "wb") as file:
        file.write(b"through a FIFO")
    run = running.wait()
is_((run.status, run.out), ("exited", b"ready\nthrough a FIFO"), "a FIFO with a writer", run)
done()
