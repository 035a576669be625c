#!/usr/bin/python3
"""Inside containers and namespaces of somebody's a run works, with what there is, or is refused with the reason; inside a sandbox
of our own it is refused."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *
import pf

UNSHARE = "/usr/bin/unshare"
if not os.path.exists(UNSHARE):
    skip_all("needs unshare")


def inside(wrapper, *verbs, who=WHO):
    result = os.path.join(tmpdir(who), "result.json")
    argv = [*wrapper, program_path(who), "run", "--result", result, tiny(), "/bin/payload", *verbs]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd="/", timeout=60, check=False,
                          env=pf._environment(who), **pf._credentials(who))
    return Run(argv, done.returncode, done.stdout, done.stderr, 0, result, None)


WORKS = {"root of a user namespace": ["-r"], "with a mount namespace": ["-r", "-m"], "with a pid namespace": ["-r", "-p", "-f", "--mount-proc"],
         "with every namespace": ["-r", "-m", "-p", "-f", "--mount-proc", "-n", "-i", "-u", "-C"]}
if WHO == "root":
    WORKS["root in a pid namespace"] = ["-p", "-f", "--mount-proc"]
    WORKS["root without a network"] = ["-n"]
for name, options in WORKS.items():
    # A user namespace of root's own is another matter, see below.
    run = inside([UNSHARE, *options], "ids", ",", "caps", ",", "exit", "3", who="user" if "-r" in options else WHO)
    is_((run.status, run.code), ("exited", 3), f"{name}: it runs", run)
    like(run.out, rb"^uid 1000 1000 1000 1000$", f"{name}: as uid 1000")
    like(run.out, rb"^CapEff:\t0+$", f"{name}: without capabilities")
    if "-r" in options:
        is_(run.guarantee("ids")["value"].split()[2], "1", f"{name}: with the one id that there is")
        is_(run.guarantee("user-quotas")["state"], "degraded", f"{name}: and the ledger says so")

run = inside([UNSHARE, "-r", "-p", "-f"], "echo", "ran", who="user")
is_((run.status, run.code, run.out), ("refused", 125, b""), "a /proc of another pid namespace: refused", run)
like(run.message, r"/proc.*pid namespace.*mount", "with the way out")
run = inside([UNSHARE, "-U"], "echo", "ran")
is_((run.status, run.code, run.out), ("refused", 125, b""), "a user namespace without ids: refused", run)
ok(run.message, "with a reason")

# The single id that root's own namespace has is the host's root, whatever its number there.
for options in (["-r"], ["--map-user=1000"], ["-U", "--map-user=65534", "--map-group=65534"], ["-r", "-m", "-p", "-f", "--mount-proc"]) if WHO == "root" else ():
    run = inside([UNSHARE, *options], "echo", "ran")
    is_((run.status, run.code, run.out), ("refused", 125, b""), f"unshare {' '.join(options)} as root: refused", run)
    like(run.message, r"host's root.*another user", "with the reason and the way out")

if WHO == "root":
    # An ordinary user who is 65534, the number of who has none, in a namespace or outside of any.
    run = inside([UNSHARE, "-U", "--map-user=65534", "--map-group=65534"], "echo", "ran", who="user")
    is_((run.status, run.code), ("exited", 0), "an ordinary user as 65534 of a namespace: it runs", run)
    nobody = ["/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    done_ = subprocess.run([*nobody, program_path(), "run", tiny(), "/bin/payload", "exit", "3"], cwd="/", check=False, stderr=subprocess.PIPE)
    is_(done_.returncode, 3, "nobody, outside of any: it runs", done_.stderr.decode())

# With an allowlist: the broker has what a run has.
for name, options in WORKS.items():
    who = "user" if "-r" in options else WHO
    result = os.path.join(tmpdir(who), "result.json")
    argv = [UNSHARE, *options, program_path(who), "run", "--result", result, "--allow", "packages.example:443", tiny(), "/bin/payload", "exit", "3"]
    done_ = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd="/", timeout=60, check=False,
                           env=pf._environment(who), **pf._credentials(who))
    run = Run(argv, done_.returncode, done_.stdout, done_.stderr, 0, result, None)
    is_((run.status, run.code, run.guarantee("egress")["state"]), ("exited", 3, "enforced"), f"{name}: with a rule too, in full", run)

# In our own: the filter and the limits forbid another, and say so by failing.
tree = image({"bin/pinfold": ("copy", program_path()), "libexec/pinfold/pinfold-egress": ("copy", os.path.join(BUILD, "libexec/pinfold/pinfold-egress")),
              "inner/bin/payload": ("copy", payload_path())})
run = pinfold("run", tree, "/bin/pinfold", "run", "/inner", "/bin/payload", "echo", "ran")
is_((run.status, run.code, run.out), ("exited", 125, b""), "in a sandbox of our own: refused", run)
like(run.err.decode(), r"^pinfold: (refused|setup-failed)", "with a reason")
run = pinfold("run", tree, "/bin/pinfold", "run", "--allow", "packages.example:443", "/inner", "/bin/payload", "echo", "ran")
is_((run.status, run.code, run.out), ("exited", 125, b""), "with a rule: refused too", run)
like(run.err.decode(), r"^pinfold: (refused|setup-failed)", "with a reason")
done()
