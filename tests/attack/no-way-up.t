#!/usr/bin/python3
"""PR14 to PR18: no capability, no id, no namespace and no key is to be had."""
import os
import sys
import re

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from attack import *
from pf import *

tree = probe_image()
attack({f"PR16.unshare-{name}": "EPERM" for name in
        ("user", "mount", "pid", "net", "ipc", "uts", "cgroup", "time", "files")} |
       {f"PR16.clone-{name}": "EPERM" for name in
        ("user", "mount", "pid", "net", "ipc", "uts", "cgroup", "user-net")} |
       {"PR16.clone3-user": "ENOSYS", "PR16.clone3-time": "ENOSYS"} |
       {f"PR16.setns-{name}": "EPERM" for name in ("net", "mnt", "pidfd")}, tree)
attack({f"PR18.{name}": "EPERM" for name in ("add-key", "session", "join", "request")}, tree)
ids = {"PR14.capset": "EPERM", "PR14.securebits": "EINVAL|EPERM", "PR14.setuid-0": "EPERM|EINVAL", "PR14.setuid-2": "EPERM|EINVAL",
       "PR14.setgid-0": "EPERM|EINVAL", "PR15.setgroups": "EPERM"}
attack(ids, tree)


def status(*flags):
    run = do(tree, "status", flags=flags)
    return dict(line.split(":\t", 1) if ":\t" in line else (line, "") for line in run.out.decode().splitlines()), run


for flags in ((), ("--uid", "0")):
    seen, run = status(*flags)
    uid = flags[1] if flags else "1000"
    name = " ".join(flags) or "the default"
    is_({key: seen.get(key) for key in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")},
        dict.fromkeys(("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"), "0" * 16), f"{name}: no capability in any set", run)
    is_((seen.get("NoNewPrivs"), seen.get("Seccomp")), ("1", "2"), f"{name}: no new privileges, a filter")
    # The filter denies asking. NOROOT, NO_CAP_AMBIENT_RAISE and every lock: 0x01 0x02 0x08 0x20 0x40 0x80 (linux/securebits.h)
    seen, run = status(*flags, "--seccomp", allow_all())
    is_(seen.get("Securebits"), str(0x01 | 0x02 | 0x08 | 0x20 | 0x40 | 0x80), f"{name}: uid 0 has no power", run)
    is_((seen.get("Uid"), seen.get("Gid")), ("\t".join([uid] * 4),) * 2, f"{name}: ids")

groups = do(tree, "status").out.decode()
shown = re.search(r"^Groups:\t(.*?) *$", groups, re.M)[1].split()
state = do(tree, "nothing").guarantee("groups")["state"]
# "1000": the one group that is mapped.
is_((set(shown) - {"65534", "1000"}, state), (set(), "degraded" if SINGLE else "enforced"), "groups: none, or shown as 65534 and said so")
if not SINGLE:
    is_(shown, [], "no supplementary group is left")

names = ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts")
links = [f"/proc/self/ns/{name}" for name in names]
mark, flags = mark_flags()
with start("run", *flags, tree, "/bin/probe", "do", "sleep") as sibling:
    pid = wait_for(lambda: program_of(mark), what="a program in another run")
    other = {link: os.readlink(link.replace("self", str(pid))) for link in links}
    own = dict(line.split() for line in do(tree, "readlink", *links).out.decode().splitlines())
    host = {link: os.readlink(link) for link in links}
    sibling.signal(15)
    run = sibling.wait()
# Without a leaf of its own there is no cgroup namespace to speak of.
expected = [n for n in names if n != "cgroup" or run.guarantee("cgroup-ns")["state"] == "enforced"]
shared = [n for n in expected if len({own[f"/proc/self/ns/{n}"], other[f"/proc/self/ns/{n}"], host[f"/proc/self/ns/{n}"]}) != 3]
is_(shared, [], "each namespace is neither the host's nor another run's", f"{own}\n{other}\n{host}")
done()
