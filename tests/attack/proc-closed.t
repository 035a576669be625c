#!/usr/bin/python3
"""FS07, FS08, FS09, KI08: proc is the kernel's own and tells and takes nothing of the host's; no device opens."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from attack import *
from pf import *

tree = probe_image()
nothing = "ENOENT|EACCES"
read = ("kcore", "kmsg", "dev-kmsg", "timer-list", "slabinfo", "vmallocinfo", "pagetypeinfo", "kpagecount", "sched-debug",
        "firmware", "powercap", "thermal", "security", "block", "net", "acpi")
masked = ("keys", "key-users", "kallsyms", "interrupts")
write = ("sysrq", "irq", "panic", "aslr", "overcommit", "drop-caches", "file-max", "userns", "hostname", "forward", "mm", "block")
helpers = ("core-pattern", "modprobe", "poweroff", "uevent-helper", "usermodehelper", "binfmt", "ns-last-pid")
devices = ("dev-mem", "dev-port", "dev-kvm", "dev-fuse", "dev-tun", "dev-loop", "dev-userfaultfd", "dev-vsock", "dev-disk",
           "dev-snapshot", "kcov", "tracefs")
always = {f"FS08.{name}" for name in ("keys", "kallsyms", "interrupts", "timer-list", "slabinfo", "firmware", "block",
                                      "write-irq", "write-panic", "write-aslr", "write-hostname")} | {"FS09.core-pattern"}
table = {f"FS08.{name}": nothing for name in read} | {f"FS08.{name}": "ENODATA" for name in masked}
table |= {f"FS08.write-{name}": "EACCES|EROFS|ENOENT" for name in write}
table |= {f"FS09.{name}": "EACCES|EROFS|ENOENT" for name in helpers}
table |= {f"KI08.{name}": nothing for name in devices} | {"FS08.walk-proc": "EROFS", "FS08.walk-sys": "EROFS"}
# Which of the rest exist is up to the host's kernel and to what its root may do.
attack(table, tree, lacking=set(table) - always)

# As inner root the program owns more of proc: the mount stands in its way then.
attack({"FS08.write-panic": "EACCES|EROFS", "FS08.write-hostname": "EACCES|EROFS", "FS09.core-pattern": "EACCES|EROFS",
        "FS08.walk-proc": "EROFS", "FS08.walk-sys": "EROFS"}, tree, flags=["--uid", "0"], title="--uid 0: ",
       lacking=("FS08.walk-proc", "FS08.walk-sys"))

# An image that brings a /proc of its own. The control sees it.
fake = probe_image({"proc/self/attr/exec": b"", "proc/self/fd/4": b"", "proc/thread-self/attr/exec": b"",
                    "proc/self/setgroups": b"deny", "proc/self/uid_map": b"0 0 1", "proc/1/cmdline": b"fake"})
attack({f"FS07.{name}": "EBADF" for name in ("proc", "attr", "thread-self", "fd")}, fake, title="a fake /proc: ")
done()
