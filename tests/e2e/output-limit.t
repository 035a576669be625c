#!/usr/bin/python3
"""--output bounds stdout and stderr, each: what fits is passed on to the byte, and one byte more ends the run with status
output-limit and code 124, whoever is faster, the writer's end or we."""
import hashlib
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *
import pf

LIMIT = 65536


def pattern(count):
    """What the payload's spam writes: byte i is 'a' + i % 26."""
    return (b"abcdefghijklmnopqrstuvwxyz" * (count // 26 + 1))[:count]


for stream in ("stdout", "stderr"):
    for count, verbs in (LIMIT + 1, []), (LIMIT + 1, [",", "sleep", "600"]), (100 * LIMIT, []), (10**9, []):
        run = pinfold("run", "--output", LIMIT, tiny(), "/bin/payload", "spam", stream, count, *verbs)
        name = f"{stream}: {count} bytes{' and no end' if verbs else ''}"
        is_((run.status, run.code, run.result["cause"]["limit"]), ("output-limit", 124, "output"), f"{name}: output-limit, 124", run)
        is_(run.evidence.get("stream"), stream, f"{name}: which stream")
        report = run.result["output"][stream]
        is_((report["bytes"], report["truncated"]), (LIMIT, True), f"{name}: the limit was relayed, and said to be cut")
        is_(report["sha256"], hashlib.sha256(pattern(LIMIT)).hexdigest(), f"{name}: the digest is of what was relayed")
        got = run.out if stream == "stdout" else run.err
        ok(got.startswith(pattern(LIMIT)) and pattern(LIMIT + 1) not in got, f"{name}: and just that came", str(len(got)))
    run = pinfold("run", "--output", LIMIT, tiny(), "/bin/payload", "spam", stream, LIMIT, ",", "exit", "3")
    report = run.result["output"][stream]
    is_((run.status, run.code, report["bytes"], report["truncated"]), ("exited", 3, LIMIT, False),
        f"{stream}: as much as is allowed is no offence", run)

run = pinfold("run", "--output", LIMIT, tiny(), "/bin/payload", "spam", "stdout", LIMIT, ",", "spam", "stderr", LIMIT, ",", "exit", "3")
is_((run.status, run.code), ("exited", 3), "each stream has the limit to itself", run)
run = pinfold("run", "--output", "0", tiny(), "/bin/payload", "exit", "3")
is_((run.status, run.code), ("exited", 3), "--output 0 and a silent program", run)
run = pinfold("run", "--output", "0", tiny(), "/bin/payload", "echo", "x", ",", "exit", "3")
is_((run.status, run.code, run.out), ("output-limit", 124, b""), "--output 0 and a word", run)
run = pinfold("run", "--output", "none", tiny(), "/bin/payload", "spam", "stdout", "20M")
is_((run.status, len(run.out), run.result["output"]["stdout"]["bytes"]), ("exited", 20 << 20, 20 << 20), "--output none: all of 20 MiB")
is_(hashlib.sha256(run.out).hexdigest(), run.result["output"]["stdout"]["sha256"], "the digest is right")
run = pinfold("run", "--output", LIMIT, "--tty", tiny(), "/bin/payload", "spam", "stdout", "10M")
is_((run.status, run.code), ("output-limit", 124), "with --tty too", run)

# Whatever comes, the supervisor's memory stays: the flood is 100 MiB without a newline.
with start("run", "--output", "none", tiny(), "/bin/payload", "spam", "stdout", "100M", ",", "await", "10") as running:
    count = 0
    while count < 100 << 20:
        count += len(os.read(running.process.stdout.fileno(), 1 << 20))
    with open(f"/proc/{running.pid}/status", encoding="ascii") as file:
        peak = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
    running.signal(10)
    run = running.wait()
ok(peak < 16384, "the supervisor of a flood stays small", f"{peak} kB")

# A read of ours that fails is not the end of the stream: what is missing must not pass for all that the program wrote.
STRACE = "/usr/bin/strace"


def traced(options, *words):
    """A run under strace, which without -f sees the supervisor alone."""
    folder = tmpdir()
    argv = [STRACE, "-qq", "-o", os.path.join(folder, "trace"), "-e", "trace=read", *options,
            program_path(), "run", "--result", os.path.join(folder, "result.json"), *words]
    ended = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, cwd="/", timeout=60, check=False,
                           env=pf._environment(WHO), **pf._credentials(WHO))
    with open(os.path.join(folder, "trace"), encoding="utf-8", errors="replace") as file:
        return Run(argv, ended.returncode, ended.stdout, ended.stderr, 0, os.path.join(folder, "result.json"), None), file.read().splitlines()


def first_read_of_output(error, stream):
    """A run in which that read failed: the how manieth it is, the run before tells."""
    words = [tiny(), "/bin/payload", "spam", stream, "1000", ",", "exit", "3"]
    for _ in range(5):
        _, lines = traced(["-y"], *words)
        number = next(i for i, line in enumerate(lines, 1) if "<pipe:" in line)
        run, lines = traced(["-y", "-e", f"inject=read:error={error}:when={number}"], *words)
        if any("<pipe:" in line and "INJECTED" in line for line in lines):
            return run
    raise RuntimeError("no read of the output could be made to fail")


if os.path.exists(STRACE):
    for stream in "stdout", "stderr":
        run = first_read_of_output("EIO", stream)
        is_((run.status, run.code, run.result["ok"], run.result["cause"]["stage"]), ("lost", 125, False, "stdio"), f"{stream} that cannot be read: lost", run)
        like(run.message, rf"its {stream}", f"{stream}: by its name")
        is_(run.result["output"][stream]["truncated"], True, f"{stream}: and it is not whole", run)
    run = first_read_of_output("EINTR", "stdout")
    is_((run.status, run.code, run.out), ("exited", 3, pattern(1000)), "EINTR is no failure", run)
else:
    skip("needs strace", "reads that fail")
done()
