#!/usr/bin/python3
"""Where parts of the host's /proc are covered, as in a container, the kernel forbids a fresh one: the run is refused and the
covered paths are named, or --proc outer takes the host's, read-only, and the ledger says so."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))

if os.geteuid() == 0 and "PINFOLD_TEST_PRIVATE" not in os.environ:
    os.environ["PINFOLD_TEST_PRIVATE"] = "1"
    os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv])

from pf import *

if os.geteuid() != 0:
    skip_all("needs root")  # to cover a part of /proc, in a mount namespace of its own

tree = busybox_image()
# The default memory limit holds too: without a controller the watch must tell our processes from the host's.
OUTER = ("run", "--proc", "outer")
run = pinfold(*OUTER, tree, "/bin/ls", "/proc")
ok(run.code == 0 and b"\n1\n" in b"\n" + run.out, "nothing covered: --proc outer gets a fresh one all the same", run)
is_(run.guarantee("proc")["state"], "enforced", "and the ledger says enforced")

subprocess.run(["mount", "--bind", "/dev/null", "/proc/cmdline"], check=True)
subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "x", "/proc/acpi"], check=os.path.isdir("/proc/acpi"))
run = pinfold("run", tree, "/bin/true")
is_((run.code, run.out), (125, b""), "covered: the run does not start", run)
ok("/proc/cmdline" in run.message and "--proc outer" in run.message, "the message names what is covered and the way out", run)

run = pinfold(*OUTER, tree, "/bin/sh", "-c",
              "readlink /proc/self; grep -c ' /proc' /proc/self/mountinfo; cat /proc/keys /proc/interrupts; "
              "for f in /proc/self/comm /proc/sys/kernel/core_pattern /proc/self/oom_score_adj; do echo x > $f; done; exit 0")
is_(run.code, 0, "with --proc outer it starts", run)
is_(run.err.decode().count("Read-only file system"), 3, "the host's /proc cannot be written to", run)
ok(int(run.out.split()[0]) > 2, "its process numbers are the host's", run)
is_(len(run.out.split()), 2, "what would tell of others is covered", run)
row = run.guarantee("proc")
is_(row["state"], "degraded", "the ledger says degraded")
ok(row["not_covered"], "and what is not covered")
run = pinfold(*OUTER, "--require", "proc", tree, "/bin/true")
is_(run.code, 125, "--require proc refuses it", run)

run = pinfold(*OUTER, "--memory", "64M", "--wall", "50s", tiny(), "/bin/payload", "alloc", "100M", ",", "sleep", "600")
is_(run.status, "oom", "the memory limit sees the sandbox's own processes there", run)

# Another process of the same user, seen through the host's /proc: its files, memory and descriptors stay out of reach.
folder, secret = tmpdir(mode=0o700), "secret-" + os.urandom(12).hex()
path = os.path.join(folder, "file")
with open(path, "w", encoding="ascii") as file:
    file.write(secret)
os.chown(path, os.stat(folder).st_uid, -1)
who = {} if WHO == "root" else {"user": os.stat(folder).st_uid, "group": os.stat(folder).st_gid, "extra_groups": []}
with subprocess.Popen(["sleep", "60"], stdin=subprocess.DEVNULL, cwd=folder, env={"SECRET": secret}, **who) as sleeper:
    pid = sleeper.pid
    script = " ; ".join(f"cat /proc/{pid}/{name}" for name in (f"root{path}", f"cwd/{os.path.basename(path)}", "environ", "maps",
                                                                 "fd/0", "mem"))
    run = pinfold(*OUTER, tree, "/bin/sh", "-c", f"ls /proc/{pid}/root; {script}; exit 0")
    ok(run.code == 0 and run.out == b"", "another process's root, cwd and memory are closed", run)
    sleeper.kill()
done()
