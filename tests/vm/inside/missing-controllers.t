#!/usr/bin/python3
"""A parent without a controller: the limit falls back and says so, or the run is refused under --require."""
from guest import *

if not own_subtree():
    skip_all("no systemd delegates a subtree without controllers")

with Group("sparse", "pids") as sparse:
    parent = os.path.join(sparse, "parent")
    os.mkdir(parent)
    run = pinfold("run", "--cgroup-parent", parent, eater(), "/bin/true")
    is_((run.status, run.code), ("exited", 0), "it runs", str(run))
    row = run.guarantee("memory")
    is_(row["state"], "degraded", "memory is degraded", str(row))
    ok(row["not_covered"], "what is not covered is told")
    is_(run.guarantee("pids")["by"], "pids.max", "pids is enforced")
    is_(run.guarantee("kill")["by"], "cgroup.kill", "so is the kill")
    ok(b"memory" in run.err, "stderr says it once", str(run))

    run = pinfold("run", "--require", "memory", "--cgroup-parent", parent, eater(), "/bin/true")
    is_((run.status, run.code), ("refused", 125), "--require memory refuses", str(run))
    ok("memory" in run.message, "and names the controller", run.message)

    run = pinfold("run", "--read-bps", "1M", "--cgroup-parent", parent, eater(), "/bin/true")
    is_((run.status, run.code), ("refused", 125), "an io limit without the controller has no fallback", str(run))
    ok("io" in run.message, "and names the controller", run.message)
    is_(sorted(n for n in os.listdir(parent) if os.path.isdir(os.path.join(parent, n))), [], "no leaf is left")
    os.rmdir(parent)
done()
