#!/usr/bin/python3
"""PR01, PR12: pid 1 and the processes of the host are out of reach, and nothing of pid 1 can be read."""
import os
import sys
import subprocess

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from attack import *
from pf import *

tree = probe_image()
# A process of the very same user on the host: only the pid namespace stands between.
account = {} if os.geteuid() else {"user": OWNER[0], "group": OWNER[1], "extra_groups": []}
with subprocess.Popen([PROBE, "do", "sleep"], **account) as host:
    env = {"CANARY_PID": str(host.pid), "TARGET": str(host.pid)}
    attack({"PR01.kill": "ESRCH", "PR01.pidfd": "ESRCH"}, tree, env=env)

    table = {f"PR12.{name}": "EACCES|EPERM" for name in (
        "mem", "mem-write", "environ", "maps", "auxv", "stack", "syscall", "pagemap", "io", "fd", "map-files", "root", "cwd",
        "exe", "exe-link", "ns")}
    table |= {f"PR12.{name}": "EACCES|EPERM|EROFS" for name in ("attr", "oom", "clear-refs", "timerslack", "uid-map", "setgroups")}
    table |= {f"PR12.{name}": "EPERM" for name in ("vm-read", "vm-write", "ptrace", "kcmp", "move-pages", "prlimit")}
    table |= {f"PR12.{name}": "ENOSYS" for name in ("getfd", "madvise")}
    # a root that lacks CAP_SYS_RESOURCE, a kernel without labels or kcmp
    lacking = ("PR12.prlimit", "PR12.attr", "PR12.kcmp", "PR12.stack")
    attack(table, tree, env=env, lacking=lacking)
    # The same kuid as pid 1, whatever the form of the id map.
    attack(table, tree, env=env, lacking=lacking, flags=["--uid", "0"], title="--uid 0: ")

    run = do(tree, "kill-everybody")
    is_((run.status, run.out.decode()), ("exited", "kill 0\nchild 9\n"), "kill(-1) reaches its own child", run)
    is_(host.poll(), None, "and nobody on the host")
    host.kill()

run = do(tree, "list", "/proc")
pids = sorted(int(name) for name in run.out.decode().split() if name.isdigit())
is_(pids, [1, 2], "/proc lists pid 1 and the program", run)
done()
