#!/usr/bin/python3
"""KI01, KI02, KI05: what the filter does to every call is what the policy's tables say, high halves included.

The verdicts come from the tables, by a program that knows no BPF. A denied call gives exactly its errno; an allowed one
gives what the same call gives in a sandbox without a filter.
"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from attack import *
from pf import *

VERDICTS = os.path.join(BUILD, "tests/attack/verdicts")
PIPE_SIZE, AFFINITY = 1, 2
ALL_ONES = 2**64 - 1

tree = probe_image()
folder = tmpdir()
off = allow_all()


def verdicts(*words, text=""):
    return subprocess.run([VERDICTS, *words], input=text, stdout=subprocess.PIPE, check=True, text=True).stdout.split("\n")[:-1]


def line(vector):
    return f"{vector[0]} " + " ".join(f"{a:x}" for a in vector[1:])


def sweep(vectors, *flags):
    """Outcome of each vector inside, and the run."""
    path = os.path.join(folder, "vectors")
    with open(path, "w", encoding="ascii") as file:
        file.write("".join(line(v) + "\n" for v in vectors))
    run = do(tree, "sweep", flags=["--stdin", path, "--wall", "50s", *flags])
    seen = run.out.decode().split("\n")[:-1]
    is_((run.status, len(seen)), ("exited", len(vectors)), f"{len(vectors)} calls were made", run)
    return dict(zip(vectors, seen)), run


def check(title, vectors, *flags, affinity):
    """Every outcome against the tables and against a sandbox without a filter."""
    switches = (0 if SINGLE else PIPE_SIZE) | (AFFINITY if affinity else 0)
    want = dict(zip(vectors, verdicts("judge", str(switches), text="".join(line(v) + "\n" for v in vectors))))
    with unharmed(title):
        seen, run = sweep(vectors, *flags)
        bare, _ = sweep(vectors, *flags, "--seccomp", off)
    wrong = [f"{line(v)}: {seen[v]}, the table says {want[v]}, without a filter {bare[v]}" for v in vectors
             if seen[v] != (bare[v] if want[v] == "allow" else want[v])]
    is_(wrong[:20], [], f"{title}: each outcome is the table's")
    return want, seen, bare, run


# sync would write the caches of the whole host to its disks. The kernel never asks a filter about uretprobe (335, since
# 6.14) and uprobe (336, since 6.18) on x86-64: they work only from a page of its own making.
names = {int(number): name for number, name in (row.split() for row in verdicts("names"))}
ones = [(nr, *[ALL_ONES] * 6) for nr in range(1024) if names.get(nr) != "sync" and nr not in (335, 336)]
probe = do(tree, "nothing")
# Without cpu.max the affinity holds the limit, and may not be changed.
ones_affinity = probe.guarantee("cpus")["by"] == "cpu.max"
want, seen, bare, run = check("every number with bad arguments", ones, affinity=ones_affinity)

past = {v[0] for v in ones if want[v] != "allow" and bare[v] != want[v] and bare[v] != "38"}
ok(len(past) >= 40, f"control: {len(past)} of the denied calls are served without the filter")
denied = {row["name"] for row in run.result["denied"]["syscalls"]}
ok({"mount", "ptrace", "bpf", "unshare", "setns"} <= denied, "denied calls are counted by name", denied)

future = [(nr, 0, 0, 0, 0, 0, 0) for nr in (*range(480, 520), 1000, 1023, 1024, 1025, 2000, 5000, 65536, 0x3fffffff, -1, -2)]
outcomes, run = sweep(future)
is_({v[0]: outcomes[v] for v in future if outcomes[v] != "38"}, {}, "calls of the future are ENOSYS, and kill nobody")

# Each edge of each argument rule, as it is and with other high halves.
edges = {(int(nr), *(int(a, 16) for a in args)) for nr, *args in map(str.split, verdicts("vectors"))}
check("every argument rule at its edges", sorted(edges), "--cpus", "none", affinity=True)
done()
