#!/usr/bin/python3
"""KI04, KI06 to KI10: no door to parts of the kernel that no program needs; threads and processes start all the same."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from attack import *
from pf import *

tree = probe_image()
sockets = {f"KI06.{name}": "EAFNOSUPPORT" for name in (
    "packet", "raw", "vsock", "alg", "xdp", "netlink-netfilter", "netlink-xfrm", "netlink-audit", "netlink-generic",
    "netlink-uevent", "packet-high", "vsock-high", "netlink-high", "pair-inet")}
sockets |= {"KI06.oob": "EOPNOTSUPP", "KI06.ping": "EACCES|EAFNOSUPPORT"}
# Families that a kernel can be built without, and the host's range of groups that may ping.
attack(sockets, tree, lacking=("KI06.alg", "KI06.xdp", "KI06.pair-inet", "KI06.ping", "KI06.vsock", "KI06.vsock-high"))

calls = {f"KI07.{name}": "ENOSYS" for name in ("setup", "enter", "register")}
calls |= {f"KI08.{name}": "ENOSYS" for name in ("userfaultfd", "seccomp", "seccomp-listener", "landlock", "memfd-secret", "aio",
                                               "statmount", "cachestat", "mempolicy", "migrate")}
calls |= {f"KI08.{name}": "EPERM" for name in ("bpf", "perf", "fanotify", "vmsplice", "huge-memfd", "ldt")}
calls |= {"KI08.seccomp-prctl": "EINVAL", "KI08.lookup-handle": "EOPNOTSUPP", "KI08.huge-mmap": "EPERM"}
calls |= {f"KI09.{name}": "EPERM" for name in (
    "reboot", "kexec", "kexec-file", "init-module", "finit-module", "delete-module", "swapon", "swapoff", "acct", "settimeofday",
    "clock-settime", "adjtimex", "clock-adjtime", "sethostname", "setdomainname", "iopl", "ioperm", "syslog", "quotactl", "vhangup",
    "setpriority", "scheduler", "ioprio")}
calls |= {"KI10.keepcaps": "EINVAL", "KI10.no-randomize": "EPERM", "KI10.exec-implied": "EPERM",
          "KI10.no-randomize-high": "EPERM"}
# Parts of the kernel that it can be built without, calls newer than it, and one that a sysctl closes.
attack(calls, tree, lacking={"KI07.setup", "KI08.userfaultfd", "KI08.memfd-secret", "KI08.statmount", "KI08.cachestat", "KI08.ldt",
                             "KI08.landlock", "KI08.mempolicy", "KI08.migrate", "KI08.huge-memfd"} |
       {f"KI09.{name}" for name in ("kexec", "kexec-file", "init-module", "finit-module", "delete-module", "iopl", "ioperm",
                                    "quotactl", "swapon", "swapoff", "acct")})

outcomes, run = strong(tree, ["KI04"])
is_(outcomes, {"KI04.pthread": ("reached", "0"), "KI04.spawn": ("reached", "0")}, "threads and processes start", run)
done()
