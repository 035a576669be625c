#!/usr/bin/python3
"""The guest is what the other tests here take it for: cgroup v2 on /sys/fs/cgroup, with controllers."""
import os
import subprocess

ROOT = "/sys/fs/cgroup"
WANTED = {"cpuset", "cpu", "io", "memory", "pids"}
DELEGATED = {"cpu", "memory", "pids"}

who, boot = os.environ["PINFOLD_VM_AS"], os.environ["PINFOLD_VM_BOOT"]


def read(path):
    with open(path) as f:
        return f.read()


def checks():
    yield "the root has " + " ".join(sorted(WANTED)), WANTED <= set(read(f"{ROOT}/cgroup.controllers").split())
    release = os.uname().release
    yield f"kernel {release}", release.startswith(os.environ["PINFOLD_VM_KERNEL"] + ".")
    yield f"uid {os.getuid()} as {who}", (os.getuid() == 0) == (who == "root")
    own = read("/proc/self/cgroup").strip()
    yield f"one hierarchy, this process in {own}", own.startswith("0::/") and "\n" not in own
    if boot == "plain" and who == "delegated":
        parent = ROOT + os.path.dirname(own.removeprefix("0::"))
        yield f"{parent} is ours", os.access(f"{parent}/cgroup.procs", os.W_OK)
        yield f"{parent} has the controllers", WANTED <= set(read(f"{parent}/cgroup.controllers").split())
    if boot == "systemd":
        yield "pid 1 is systemd", read("/proc/1/comm") == "systemd\n"
    if boot == "systemd" and who == "user":
        slice_ = f"{ROOT}/user.slice/user-{os.getuid()}.slice/user@{os.getuid()}.service"
        yield "the manager has cpu memory pids", DELEGATED <= set(read(f"{slice_}/cgroup.controllers").split())
        scope = subprocess.run(["systemd-run", "--user", "--scope", "-q", "-p", "Delegate=yes",
                                "cat", "/proc/self/cgroup"], stdout=subprocess.PIPE, text=True)
        yield f"the manager gives a scope: {scope.stdout.strip()}", f"user@{os.getuid()}.service" in scope.stdout


count = 0
for text, ok in checks():
    count += 1
    print(f"{'ok' if ok else 'not ok'} {count} - {text}")
print(f"1..{count}")
