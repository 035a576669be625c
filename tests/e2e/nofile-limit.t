#!/usr/bin/python3
"""--nofile bounds the open files of a process, and what this process may not give is refused, not cut."""
import os
import resource
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

# 0, 1 and 2 are taken.
run = pinfold("run", "--nofile", "20", tiny(), "/bin/payload", "open-many", "17", ",", "exit", "3")
is_((run.out, run.code), (b"opened 17 -\n", 3), "17 beside the standard three", run)
run = pinfold("run", "--nofile", "20", tiny(), "/bin/payload", "open-many", "18")
is_((run.out, run.code), (b"opened 17 EMFILE\n", 1), "not one more", run)
row = run.guarantee("nofile")
is_((row["state"], row["by"], row["value"], row["requested"]), ("enforced", "RLIMIT_NOFILE", "20", "20"), "the ledger", str(row))

run = pinfold("run", tiny(), "/bin/payload", "rlimits")
default = int(run.guarantee("nofile")["value"])
single = run.guarantee("ids")["value"].split()[2] == "1"
is_(default, 256 if single else 1024, "the default: 1024, with a single id 256")
like(run.out.decode(), rf"^nofile {default} {default}$", "soft and hard, inside")
unlike(run.out.decode(), r"^as (?!-1 -1)", "the address space is never limited")


def lower():
    resource.setrlimit(resource.RLIMIT_NOFILE, (512, 512))


run = pinfold("run", "--nofile", "513", tiny(), "/bin/payload", "exit", "3", preexec_fn=lower)
is_((run.status, run.code), ("refused", 125), "more than this process may have: refused", run)
like(run.message, r"--nofile 513.*512", "with both figures")
run = pinfold("run", "--nofile", "512", tiny(), "/bin/payload", "rlimits", preexec_fn=lower)
like(run.out.decode(), r"^nofile 512 512$", "just as many: given")

# A default that is cut is told as it is.
run = pinfold("run", "--require", "nofile", tiny(), "/bin/payload", "rlimits", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)))
like(run.out.decode(), r"^nofile 64 64$", "the default, where this process may have less: that")
row = run.guarantee("nofile")
is_((row["state"], row["value"]), ("enforced", "64"), "and the ledger tells it", str(row))
run = pinfold("run", tiny(), "/bin/payload", "rlimits", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 4096)))
like(run.out.decode(), rf"^nofile {default} {default}$", "a low soft limit of the caller's does not count")
done()
