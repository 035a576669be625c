#!/usr/bin/python3
"""A limit that makes no sense, or could mean two things, is refused with the key, the value and what would be right; it
is never guessed at, and nothing starts."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

ANYWHERE = ("", " ", "-1", "+1", "1e400", "1e3", "nan", "NaN", "inf", "0x10", "1_000", "1,5", "5 ", " 5", "5\n", "5x", "null", "unlimited",
            "99999999999999999999999", "18446744073709551616")
SILLY = {
    "memory": ("0", "1K", "64MB", "64m", "64MiB", "1.5", "17000000000G"),
    "cpus": ("0", "0.0", "0.0001", "1.", ".5", "2M", "10000000"),
    "pids": ("0", "1.5", "5000000", "1K"),
    "wall": ("0", "0s", "10", "1.5", "2sec", "5M", "10000000000h", "1d"),
    "cpu-time": ("0", "0s", "10"),
    "idle": ("0s", "300"),
    "scratch": ("0", "1", "4K"),
    "scratch-inodes": ("0", "1", "1.5"),
    "output": ("16MB", "1.5"),
    "nofile": ("0", "3", "none", "2000000"),
    "grace": ("2", "none"),
    "uid": ("65536", "none", "root"),
}
bad = []
for key, values in SILLY.items():
    for value in ANYWHERE + values:
        run = pinfold("run", f"--{key}={value}", tiny(), "/bin/payload", "echo", "ran")
        if not (run.status == "refused" and run.code == 125 and run.out == b"" and key in run.message):
            bad.append((key, value, run.status, run.code, run.message[:200]))
    is_([row for row in bad if row[0] == key], [], f"--{key}: {len(ANYWHERE + values)} silly values are refused, by name")

run = pinfold("run", "--wall", "10", tiny(), "/bin/payload", "exit", "3")
like(run.message, r"wall.*10.*10s|wall.*10.*2s|wall.*10.*ms", "a bare number for a time: what would be right")
run = pinfold("run", "--memory", "64MB", tiny(), "/bin/payload", "exit", "3")
like(run.message, r"64M\b", "64MB: 64M is suggested")
for option in (["--memory", "64M"], ["--memory=0.5G"], ["--cpus", "0.5"], ["--wall", "1.5m"], ["--wall", "1h"], ["--wall", "30000ms"],
               ["--output", "0"], ["--pids", "1"], ["--scratch", "64K", "--scratch-inodes", "16"], ["--grace", "0s"]):
    run = pinfold("run", *option, tiny(), "/bin/payload", "exit", "3")
    is_((run.status, run.code), ("exited", 3), f"{' '.join(option)} makes sense", run)
done()
