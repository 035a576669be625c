#!/usr/bin/python3
"""A host that forbids user namespaces, or is too old, is told by name with its way out: which sysctl, which AppArmor rule, which
kernel; nothing is started."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *
import pf


def through(wrapper, who=WHO):
    result = os.path.join(tmpdir(who), "result.json")
    argv = [*wrapper, program_path(who), "run", "--result", result, tiny(), "/bin/payload", "echo", "ran"]
    ended = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd="/", timeout=60, check=False,
                           env=pf._environment(who), **pf._credentials(who))
    return Run(argv, ended.returncode, ended.stdout, ended.stderr, 0, result, None)


def refused(run, pattern, name):
    is_((run.status, run.code, run.out), ("refused", 125, b""), f"{name}: refused", run)
    like(run.message, pattern, f"{name}: the message has the reason and the way out")


# The personality UNAME26 makes any kernel call itself 2.6.
run = through(["/usr/bin/setarch", os.uname().machine, "--uname-2.6"])
refused(run, r"Linux 2\.6.* is too old.*5\.14", "an old kernel")

# Ours to set in a namespace of our own: none below it.
NONE = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
run = through(["/usr/bin/unshare", "-r", "/bin/sh", "-c", NONE, "sh"], who="user")
refused(run, r"user\.max_user_namespaces is 0.*sysctl -w user\.max_user_namespaces", "no user namespaces by sysctl")

# The two switches that this kernel may lack, as files over /proc/sys/kernel; and a clone3 that fails as theirs does.
STRACE = "/usr/bin/strace"
if os.geteuid() == 0 and os.path.exists(STRACE):
    for switch, value, pattern in (("unprivileged_userns_clone", 0, r"unprivileged_userns_clone is 0.*sysctl -w kernel\.unprivileged_userns_clone=1"),
                                   ("apparmor_restrict_unprivileged_userns", 1, r"AppArmor.*apparmor_parser")):
        fake = f'mount -t tmpfs none /proc/sys/kernel && echo {value} > /proc/sys/kernel/{switch} && exec "$@"'
        run = through(["/usr/bin/unshare", "-m", "/bin/sh", "-c", fake, "sh", STRACE, "-f", "-qq", "-o", "/dev/null", "-e", "inject=clone3:error=EPERM:when=1"],
                      who="root")
        refused(run, pattern, switch)
else:
    skip("needs root and strace", "switches that this kernel may lack")
done()
