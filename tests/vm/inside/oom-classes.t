#!/usr/bin/python3
"""There is no free class of memory: whatever the kernel holds for a program, it is killed at exactly the limit."""
from guest import *

LIMIT = 32 * MIB
# The kernel accounts for a unix socket's buffers whole, filled or not.
BELOW = {"unix": 10}
LIMITS = ["--memory", "32M", "--pids", "200", "--scratch", "32M", "--nofile", "256"]

for kind in ["anon", "tmpfs", "memfd", "shm", "msg", "tables", "inodes", "pipe", "unix", "epoll"]:
    # The control: below the limit the same program holds that class in peace, and is charged for it.
    below = BELOW.get(kind, 20)
    run = pinfold("run", *LIMITS, eater(), "/bin/eat", kind, str(below))
    is_((run.status, run.out), ("exited", b"full\n"), f"{kind}: {below} MiB of 32 are no matter", str(run))
    within(run.result["usage"]["memory_peak_bytes"], below * MIB * 7 // 10, LIMIT, f"{kind}: and were charged")
    run = pinfold("run", *LIMITS, eater(), "/bin/eat", kind, "40")
    killed_at(run, LIMIT, kind)
done()
