#!/usr/bin/python3
"""RS13: what the kernel counts by user is bounded inside, so that the user's other programs go on."""
import os
import select
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from attack import *
from pf import *

tree = probe_image()


def bounded(row, count, inside, *flags, reach=True, want="EMFILE|EAGAIN|ENOSPC|ETOOMANYREFS|EPERM"):
    """More than `inside` of something can be had unconfined, and not in a sandbox."""
    env = {"COUNT": str(count)}
    controls = weak(tree, [row], env, preexec_fn=lambda: None) if reach else {}
    outcomes, run = strong(tree, [row], flags, env)
    name = f"{row}: {inside}"
    if reach and controls.get(row, ("",))[0] != "reached" and os.geteuid() != 0:
        skip("needs root: the control's own limits are lower", name)
    elif reach:
        is_(controls.get(row), ("reached", "0"), f"control: {row}: {count} can be had unconfined")
    got = outcomes.get(row, ("", ""))
    ok(got[0] == "blocked" and got[1] in want.split("|"), name, f"{got}\n{run}")


with unharmed("RS13"):
    bounded("RS13.inotify-instances", 17, "no more than 16 inotify instances")
    bounded("RS13.inotify-watches", 8193, "no more than 8192 inotify watches")
    bounded("RS13.nofile", 1, "the hard limit of open files stays", want="EPERM", reach=False)
    bounded("RS13.memlock", 1, "the hard limit of locked memory stays", want="EPERM", reach=False)
    bounded("RS13.sigpending", 1, "the hard limit of pending signals stays", want="EPERM", reach=False)
    bounded("RS13.msgqueue", 1, "the hard limit of message queues stays", want="EPERM", reach=False)
    bounded("RS13.core", 1, "the hard limit of core files stays", want="EPERM", reach=False)
    bounded("RS13.mqueue", 10, "no more than 800 KiB of message queues", reach=False, want="EMFILE")
    if SINGLE:
        bounded("RS13.pending", 257, "no more than 256 pending signals")
        bounded("RS13.in-flight", 512, "no more descriptors in flight than may be open", want="ETOOMANYREFS|EMFILE")
        bounded("RS13.ptys", 65, "no more than 64 terminals")
        bounded("RS13.pipe-size", 1, "a pipe's size cannot be changed", want="EPERM")
    else:
        bounded("RS13.pending", 4097, "no more than 4096 pending signals")
        bounded("RS13.in-flight", 2048, "no more descriptors in flight than may be open", want="ETOOMANYREFS|EMFILE")
        run = do(tree, "nothing")
        is_(run.guarantee("user-quotas")["state"], "enforced", "the quotas are a user's of its own", run)

run = do(tree, "nothing")
is_(run.guarantee("user-quotas")["state"], "degraded" if SINGLE else "enforced", "the ledger says whose quotas they are", run)
if SINGLE:
    ok("pipe pages" in run.guarantee("user-quotas")["not_covered"], "and what is shared")

# On @host a watch tells what others run: there is none.
run = pinfold("run", "--wall", "50s", "@host", "/usr/bin/python3", "-c",
              "import ctypes; l = ctypes.CDLL(None, use_errno=True); print(l.inotify_init1(0), ctypes.get_errno())")
is_((run.status, run.out), ("exited", b"-1 24\n"), "@host: no inotify at all", run)

# While a sandbox holds all that it can get, its user still gets an inotify instance, a pipe and a timer.
account = {} if os.geteuid() else {"user": OWNER[0], "group": OWNER[1], "extra_groups": []}
mark, flags = mark_flags()
holding = ["do", "hold"]
with start("run", *flags, "--env", "COUNT=100000", tree, "/bin/probe", *holding) as hog:
    select.select([hog.process.stdout], [], [], 60)
    like(os.read(hog.process.stdout.fileno(), 4096).decode(), "holding", "a sandbox that takes what it can")
    check = ("import ctypes, fcntl, os; l = ctypes.CDLL(None, use_errno=True); assert l.inotify_init1(0) >= 0; r, w = os.pipe();"
             "assert fcntl.fcntl(w, 1032) == 65536, fcntl.fcntl(w, 1032)")
    other = subprocess.run(["/usr/bin/python3", "-c", check], check=False, stderr=subprocess.PIPE, **account)
    is_((other.returncode, other.stderr), (0, b""), "and beside it the user's other programs have what they need")
    hog.signal(15)
    run = hog.wait()
is_(run.status, "cancelled", "it is ended like any other", run)
done()
