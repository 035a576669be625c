#!/usr/bin/python3
"""Page cache is not a program's memory, tmpfs is; the result tells them apart (figures at the end of a run)."""
from guest import *

if DISK:
    tree = eater(disk_folder("cache"))
    with open(os.path.join(tree, "big"), "wb") as file:
        file.truncate(160 * MIB)
    run = pinfold("run", "--memory", "48M", "--scratch", "16M", "--output", "none", tree,
                  "/bin/sh", "-c", "cat /big /big > /dev/null")
    is_((run.status, run.code), ("exited", 0), "reading 160 MiB with 48 MiB is fine", str(run))
    within(run.result["usage"]["memory_peak_bytes"], 40 * MIB, 48 * MIB, "the cache filled the limit and was reclaimed")
    ok(run.result["usage"]["memory_at_end"]["file"] > 20 * MIB, "it is told as file", str(run))
else:
    skip("no disk in this guest", "reading a large file")

run = pinfold("run", "--memory", "64M", "--scratch", "32M", eater(), "/bin/sh", "-c", "dd if=/dev/zero of=/tmp/x bs=1M count=100")
is_((run.status, run.code), ("exited", 1), "100 MiB into a scratch of 32 MiB is ENOSPC", str(run))
ok(b"No space left" in run.err, "and the program was told")
within(run.result["usage"]["memory_at_end"]["shmem"], 30 * MIB, 34 * MIB, "it is told as shmem")
within(run.result["usage"]["scratch_bytes"], 32 * MIB - 64 * KIB, 32 * MIB, "and as scratch")

run = pinfold("run", "--memory", "32M", "--scratch", "32M", eater(), "/bin/sh", "-c", "dd if=/dev/zero of=/tmp/x bs=1M count=100")
killed_at(run, 32 * MIB, "a scratch as large as the memory")
ok(run.result["usage"]["memory_at_end"]["shmem"] > 28 * MIB, "it is told as shmem", str(run))
done()
