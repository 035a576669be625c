#!/usr/bin/python3
"""Memory is a wall: reached, the whole sandbox is killed at it; just below, nothing happens."""
from guest import *

LIMIT = 32 * MIB

run = pinfold("run", "--memory", "32M", "--scratch", "16M", eater(), "/bin/eat", "anon", "64")
killed_at(run, LIMIT, "64 MiB of 32")
row = run.guarantee("memory")
is_((row["state"], row["by"], row["value"]), ("enforced", "memory.max", str(LIMIT)), "the ledger has what the kernel says")
row = run.guarantee("swap")
is_((row["state"], row["by"], row["value"]), ("enforced", "memory.swap.max", "0"), "swap is off")

run = pinfold("run", "--memory", "32M", "--scratch", "16M", eater(), "/bin/eat", "anon", "28")
is_((run.status, run.code, run.out), ("exited", 0, b"full\n"), "28 MiB of 32: it lives", str(run))
within(run.result["usage"]["memory_peak_bytes"], 28 * MIB, LIMIT, "28 MiB of 32: the peak is told")
is_(run.evidence.get("memory.events.oom_group_kill", 0), 0, "28 MiB of 32: no kill")

run = pinfold("run", "--memory", "none", eater(), "/bin/eat", "anon", "64")
is_((run.status, run.code), ("exited", 0), "without a limit 64 MiB are no matter", str(run))

run = pinfold("run", "--require", "cgroup", "--cpu-time", "60s", eater(), "/bin/true")
# Under systemd a user has no io controller, but no io limit was asked for.
is_((run.status, run.code), ("exited", 0), "--require cgroup holds", str(run))
done()
