#!/usr/bin/python3
"""io.max on the disk behind the image: a limit slows reads down to what it says; where there is no io controller
the limit is refused."""
from guest import *

LENGTH = 12 * MIB

if BOOT == "systemd" and AS == "user":
    run = pinfold("run", "--read-bps", "4M", eater(), "/bin/true")
    is_((run.status, run.code), ("refused", 125), "systemd delegates no io to a user: refused", str(run))
    ok("io" in run.message, "and says what is missing", run.message)
    done()
if not DISK:
    skip_all("no disk in this guest")

tree = eater(disk_folder("io"))
path = os.path.join(tree, "big")
with open(path, "wb") as file:
    file.write(os.urandom(LENGTH))
    file.flush()
    os.fsync(file.fileno())


def seconds(*flags):
    """How long the file takes to read, from the disk and not from the cache."""
    fd = os.open(path, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)
    run = pinfold("run", *flags, tree, "/bin/sh", "-c", "cat /big > /dev/null")
    is_((run.status, run.code), ("exited", 0), f"{' '.join(flags) or 'no limit'}: it reads all", str(run))
    return run, run.result["usage"]["wall_usec"] / 1e6


run, free = seconds()
run, slow = seconds("--read-bps", "3M")
within(slow, LENGTH / (3 * MIB) * 0.8, 30, "at 3 MiB a second it takes 4 seconds")
ok(slow > 2 * free, "much longer than without", f"{slow} against {free}")
row = run.guarantee("io")
is_((row["state"], row["by"]), ("enforced", "io.max"), "the ledger says by what", str(row))
ok(f"rbps={3 * MIB}" in row["value"], "and what was read back", str(row))
device = f"{os.major(os.stat(path).st_dev)}:{os.minor(os.stat(path).st_dev)}"
ok(device in row["value"], f"for the disk {device}", str(row))
ok(device in str(run.result["usage"]["io"]), "the disk is in the usage", str(run.result["usage"]["io"]))
done()
