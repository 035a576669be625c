#!/usr/bin/python3
"""All that is writable is one tmpfs: one size and one number of inodes hold for /scratch, /tmp, /dev/shm and /run
together; what does not fit is ENOSPC, and the result says what was used."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

MIB = 1 << 20


def run_in(options, verbs, want, code, name):
    run = pinfold("run", *options, tiny(), "/bin/payload", *verbs)
    is_((run.out, run.status, run.code), (want, "exited", code), name, run)
    return run


size = ["--scratch", "16M"]
run = run_in(size, ["tmpfs", "17M"], b"tmpfs %d ENOSPC\n" % (16 * MIB), 1, "one byte more than the size is ENOSPC")
within(run.result["usage"]["scratch_bytes"], 16 * MIB - 65536, 16 * MIB, "and the result says that it was full")
run = run_in(size, ["tmpfs", "15M", ",", "exit", "3"], b"tmpfs %d -\n" % (15 * MIB), 3, "just below it fits")
within(run.result["usage"]["scratch_bytes"], 15 * MIB, 15 * MIB + 65536, "and the result says how much")
run = pinfold("run", *size, tiny(), "/bin/payload", "tmpfs", "6M", "/tmp/a", ",", "tmpfs", "6M", "/dev/shm/b", ",", "tmpfs", "6M", "/run/c")
like(run.out.decode(), r"\Atmpfs 6291456 -\ntmpfs 6291456 -\ntmpfs 4\d{6} ENOSPC\n\Z", "/tmp, /dev/shm and /run share one size")
run_in(size, ["truncate", "100G", "sparse", ",", "exit", "3"], b"truncated\n", 3, "a hole costs nothing")
run_in(size, ["truncate", "9223372036854775807", "sparse", ",", "exit", "3"], b"truncated\n", 3, "not even the largest")

inodes = ["--scratch-inodes", "100"]
run = run_in(inodes, ["files", "101"], b"files 100 ENOSPC\n", 1, "100 inodes are 100 files")
is_(run.result["usage"]["scratch_inodes"], 100, "and the result counts them", run)
run_in(inodes, ["files", "100", ",", "exit", "3"], b"files 100 -\n", 3, "just as many fit")
run_in(inodes, ["files", "60", "/tmp", ",", "files", "60", "/dev/shm"], b"files 60 -\nfiles 40 ENOSPC\n", 1,
       "/tmp and /dev/shm share the number")
run = run_in(inodes, ["mkdir-deep", "150"], b"deep 100 ENOSPC\n", 1, "folders count too")

# T52: shared memory has the room of the scratch.
run_in(["--memory", "512M", "--scratch", "256M"], ["mmap-file", "200M", "/dev/shm/large", ",", "exit", "3"],
       b"mmap-file 209715200\n", 3, "200 MiB of shared memory in /dev/shm")
run = pinfold("run", "--memory", "1G", "--scratch", "512M", rootfs("python"), "python3", "-c",
              "from multiprocessing import shared_memory as s; m = s.SharedMemory(create=True, size=200 << 20)\n"
              "m.buf[:] = bytes(200 << 20); m.close(); m.unlink(); print('shared')")
is_((run.status, run.out), ("exited", b"shared\n"), "and for multiprocessing", run)

# T15, T22: folders without permissions, and trees deeper than any path, go with the rest.
run = run_in([], ["mkdir", "a", ",", "mkdir", "a/b", ",", "write", "a/b/c", ",", "mkdir", "d", "0", ",", "exit", "3"],
             b"mkdir a\nmkdir a/b\nwrote a/b/c\nmkdir d\n", 3, "folders of mode 0")
run = run_in([], ["mkdir-deep", "5000", "200", ",", "exit", "3"], b"deep 5000 -\n", 3, "5,000 folders in each other")
is_(run.result["usage"]["scratch_inodes"], 5000, "all of them counted", run)
run = run_in([], ["list", "/scratch", ",", "list", "/tmp", ",", "list", "/dev/shm", ",", "list", "/run", ",", "exit", "3"], b"", 3,
             "the next run starts with nothing")
is_((run.result["usage"]["scratch_bytes"], run.result["usage"]["scratch_inodes"]), (0, 0), "and says so", run)
row = run.guarantee("scratch")
is_((row["state"], row["by"], row["requested"]), ("enforced", "tmpfs size=", "256M"), "the ledger", str(row))
done()
