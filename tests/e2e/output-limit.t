#!/usr/bin/python3
"""--output bounds stdout and stderr, each: what fits is passed on to the byte, and one byte more ends the run with status
output-limit and code 124, whoever is faster, the writer's end or we."""
import hashlib
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

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
done()
