#!/usr/bin/python3
"""--cgroup-parent: a place that cannot be used is refused with the reason; a good one holds the leaf for the time
of the run, with its processes in it."""
import subprocess

from guest import *

for name, path in ("missing", f"{CGROUP}/no-such-place"), ("not a cgroup", "/var/tmp"), ("a file", f"{CGROUP}/cgroup.procs"):
    run = pinfold("run", "--cgroup-parent", path, eater(), "/bin/true")
    is_((run.status, run.code), ("refused", 125), f"{name}: refused", str(run))
    ok(path in run.message, f"{name}: the message names it", run.message)

if AS != "root":
    run = pinfold("run", "--cgroup-parent", CGROUP, eater(), "/bin/true")
    is_((run.status, run.code), ("refused", 125), "another's: refused", str(run))
    ok("ermission" in run.message, "another's: for lack of permission", run.message)

if own_subtree():
    with Group("crowded") as group:
        parent = os.path.join(group, "parent")
        os.mkdir(parent)
        idle = subprocess.Popen(["sleep", "600"])
        write(str(idle.pid), parent, "cgroup.procs")
        run = pinfold("run", "--cgroup-parent", parent, "--require", "memory", eater(), "/bin/true")
        is_((run.status, run.code), ("refused", 125), "processes in it: refused, as controllers cannot be handed on", str(run))
        like(run.message, "memory.*(busy|process)|(busy|process).*memory", "processes in it: the message says so")
        idle.kill()
        idle.wait()
        wait_for(lambda: not keyed(read(parent, "cgroup.events"))["populated"], what="an empty parent")

        with start("run", "--id", "inside", "--cgroup-parent", parent, eater(), "/bin/sh", "-c", "echo up; sleep 600") as running:
            is_(running.process.stdout.readline(), b"up\n", "it runs in a good one")
            is_(os.listdir(parent).count("pinfold-inside"), 1, "the leaf is below the parent")
            ok(len(read(parent, "pinfold-inside", "cgroup.procs").split()) >= 2, "pid 1 and the program are in it")
            is_(read("/proc", str(running.pid), "cgroup"), read("/proc/self/cgroup"), "the supervisor is not")
        wait_for(lambda: not keyed(read(parent, "cgroup.events"))["populated"], what="an empty parent")
        pinfold("gc", "--cgroup-parent", parent)
        is_([n for n in os.listdir(parent) if n.startswith("pinfold-")], [], "gc takes what the kill left there")
        os.rmdir(parent)
done()
