#!/usr/bin/python3
"""The attempts once more with --ids range: the program has a kuid of its own, pid 1 the caller's."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from attack import *
from pf import *

if WHO == "root":
    skip_all("needs an ordinary user: root's runs have ranges anyway")
RANGE = ["--ids", "range"]
tree = probe_image()
run = do(tree, "status", flags=RANGE)
if run.status == "refused":
    skip_all(f"no subordinate ids for this user: {run.message}")

with subprocess.Popen([PROBE, "do", "sleep"]) as host:
    env = {"TARGET": str(host.pid), "CANARY_PID": str(host.pid)}
    attack({"PR01.kill": "ESRCH"} | {f"PR12.{name}": "EACCES|EPERM" for name in (
        "mem", "environ", "maps", "fd", "root", "cwd", "exe", "exe-link", "ns", "vm-read", "ptrace")}, tree, RANGE, env)
    host.kill()
attack({"FS01.create-root": "EROFS", "FS01.append": "EROFS|EACCES", "FS15.mknod-null": "EPERM", "FS16.setuid": "EPERM",
        "FS16.file-capability": "EPERM", "FS11.tmpfs": "EPERM", "FS11.userns": "EPERM", "FS09.core-pattern": "EACCES|EROFS",
        "FS08.walk-proc": "EROFS", "FS08.walk-sys": "EROFS"}, tree, RANGE, lacking=("FS08.walk-proc", "FS08.walk-sys"))
# 0 is mapped, to the caller: becoming it is what the program must not be able to do.
attack({"PR14.capset": "EPERM", "PR14.setuid-0": "EPERM", "PR14.setgid-0": "EPERM", "PR15.setgroups": "EPERM",
        "PR16.unshare-user": "EPERM", "PR16.clone-user": "EPERM"}, tree, RANGE)
attack({"PR16.unshare-user": "ENOSPC|EPERM", "PR16.clone-user": "ENOSPC|EPERM", "PR14.setuid-0": "EPERM", "PR15.setgroups": "EPERM",
        "FS11.tmpfs": "EPERM"}, tree, [*RANGE, "--seccomp", allow_all()], title="without the filter: ")
is_((run.guarantee("groups")["state"], run.guarantee("user-quotas")["state"]), ("enforced", "enforced"),
    "no group of the caller's is left, and the quotas are the program's own", run)
like(run.out.decode(), r"^Groups:\s*$", "there are no supplementary groups")
attack({"RS13.pending": "EAGAIN"}, tree, RANGE, {"COUNT": "4097"})
done()
