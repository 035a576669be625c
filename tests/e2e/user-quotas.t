#!/usr/bin/python3
"""A sandbox cannot use up what the kernel counts per user: with a single id, which is the caller's own, that is kept small
or denied and the ledger says degraded; with ids of its own nothing of it is the caller's."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

INOTIFY_INIT1, FANOTIFY_INIT = {"x86_64": (294, 300), "aarch64": (26, 262)}[os.uname().machine]


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read()


host = {name: read(f"/proc/sys/user/{name}") for name in os.listdir("/proc/sys/user")}
names = sorted(n for n in host if n.startswith(("max_inotify", "max_fanotify")) or n.endswith("_namespaces"))
run = pinfold("run", tiny(), "/bin/payload", *[word for n in names for word in ("cat", f"/proc/sys/user/{n}", ",")], "exit", "0")
values = dict(zip(names, map(int, run.out.split())))
is_(len(values), len(names), "every per-user limit can be read", run)
for name, value in values.items():
    if name.endswith("_namespaces"):
        is_(value, 0, f"{name} is 0")
    else:
        ok(value < int(host[name]), f"{name} is lower than the host's", f"{value}, {host[name]}")
is_({name: read(f"/proc/sys/user/{name}") for name in os.listdir("/proc/sys/user")}, host, "the host's are as they were")

run = pinfold("run", tiny(), "/bin/payload", *["syscall", INOTIFY_INIT1, "0", ","] * 130, "exit", "0")
made = sum(" - " in line or line.endswith(" -") for line in run.out.decode().splitlines())
within(made, 0, 64, "inotify instances are few")
like(run.out.decode(), r" EMFILE$", "and then EMFILE")

row, ids = run.guarantee("user-quotas"), run.guarantee("ids")["value"].split()
if ids[2] == "1":
    is_(row["state"], "degraded", "a single id: degraded")
    ok(row["not_covered"], "and what is shared")
    is_(run.guarantee("groups")["state"], "degraded", "groups too")
    run = pinfold("run", tiny(), "/bin/payload", "rlimits")
    like(run.out.decode(), r"^sigpending 256 256$", "pending signals are few")
    like(run.out.decode(), r"^nofile 256 256$", "open files are few, and so are descriptors in flight")
else:
    is_(row["state"], "enforced", "ids of its own: enforced", str(row))
if WHO == "user" and os.path.exists("/usr/bin/newuidmap"):
    run = pinfold("run", "--ids", "range", tiny(), "/bin/payload", "ids")
    is_(run.status, "exited", "--ids range: it runs", run)
    is_((run.guarantee("user-quotas")["state"], run.guarantee("groups")["state"]), ("enforced", "enforced"),
        "--ids range: quotas and groups are enforced")
    like(run.out.decode(), r"\Auid 1000 1000 1000 1000\ngid 1000 1000 1000 1000\ngroups ?\n\Z", "--ids range: uid 1000, no other group")
else:
    skip("needs an ordinary user", "--ids range")
done()
