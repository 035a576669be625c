#!/usr/bin/python3
"""The program is somebody: a uid with a name and a home where it may write, its own group and none of the caller's beyond
what a single id cannot drop; as root never kuid 0, and two runs never the same."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

python = [rootfs("python"), "python3", "-c"]
WHOAMI = "import getpass, grp, os, pwd; print(getpass.getuser(), os.path.expanduser('~'), grp.getgrgid(os.getgid()).gr_name); " \
         "open(os.path.expanduser('~/x'), 'w').close(); print(pwd.getpwuid(os.getuid()).pw_dir)"
maps = ("0", "1", "1000", "60002", "65534") if WHO == "root" else ("0", "1000", "60002", "65534")
for uid in maps:
    run = pinfold("run", "--uid", uid, *python, WHOAMI)
    name = {"0": "root", "65534": "nobody"}.get(uid, "user")
    group = {"65534": "nogroup"}.get(uid, name)
    is_(run.out.decode().split(), [name, "/scratch", group, "/scratch"], f"uid {uid} has a name and a home", run)
    run = pinfold("run", "--uid", uid, tiny(), "/bin/payload", "ids")
    lines = run.out.decode().splitlines()
    is_(lines[:2], [f"{what} {uid} {uid} {uid} {uid}" for what in ("uid", "gid")], f"uid {uid}: real, effective, saved and file system", run)
    ok(set(lines[2].split()[1:]) <= {uid, "65534"}, f"uid {uid}: no group of the caller's by its number", lines[2])

# T67: what a single id cannot do is told by an errno, not by a crash.
PROGRAM = """
import os
open('f', 'w').close()
for name, call, args in ('setgroups', os.setgroups, ([],)), ('chown', os.chown, ('f', 0, 4)), ('own', os.chown, ('f', os.getuid(), os.getgid())), \\
        ('setuid', os.setuid, (0,)):
    try:
        call(*args)
        print(name, 'ok')
    except OSError as e:
        print(name, 'errno', e.errno)
"""
run = pinfold("run", *python, PROGRAM)
lines = dict(line.split(" ", 1) for line in run.out.decode().splitlines())
ok(lines["setgroups"] == "errno 1" and lines["chown"] in ("errno 1", "errno 22"), "no powers over groups and owners", run)
is_(lines["own"], "ok", "what is one's own stays so", run)
ok(lines["setuid"] in ("errno 1", "errno 22"), "nobody becomes uid 0", run)

if WHO == "root":
    kuids = set()
    runs = [start("run", tiny(), "/bin/payload", "echo", "ready", ",", "sleep", "600") for _ in range(4)]
    for running in runs:
        running.line()
        with open(f"/proc/{running.pid}/task/{running.pid}/children", encoding="ascii") as file:
            init = int(file.read().split()[0])
        with open(f"/proc/{init}/task/{init}/children", encoding="ascii") as file:
            program = int(file.read().split()[0])
        for pid in init, program:
            kuids.add(os.stat(f"/proc/{pid}").st_uid if pid == program else None)
            with open(f"/proc/{pid}/status", encoding="ascii") as file:
                uid = next(line.split()[1:] for line in file if line.startswith("Uid:"))
            ok(set(uid) == {uid[0]} and int(uid[0]) >= 65536, f"on the host it is a uid of nobody: {uid[0]}", str(uid))
            kuids.add(uid[0])
    kuids.discard(None)
    ok(len({int(k) >> 16 for k in kuids if isinstance(k, str)}) >= 4, "four runs at a time are in ranges of their own", str(kuids))
    for running in runs:
        running.signal(9)
        with running:
            pass
    run = pinfold("run", "--ids", "single", tiny(), "/bin/payload", "exit", "0")
    is_((run.status, run.code), ("refused", 125), "--ids single as root would be kuid 0: refused", run)
    # A range that somebody has, is nobody's to take.
    for value in "0-65535", "nonsense", "100000-100001", "1000-70000":
        run = pinfold("run", tiny(), "/bin/payload", "echo", "ran", env={"PINFOLD_ID_RANGE": value})
        is_((run.status, run.code, run.out), ("refused", 125, b""), f"PINFOLD_ID_RANGE={value}: refused", run)
else:
    run = pinfold("run", tiny(), "/bin/payload", "exit", "0")
    is_(run.guarantee("ids")["value"].split()[2], "1", "an ordinary user has a single id", run)
    if os.path.exists("/usr/bin/newuidmap"):
        # The helper is found by its place, not by PATH.
        folder = tmpdir()
        for name in "newuidmap", "newgidmap":
            with open(os.path.join(folder, name), "w", encoding="ascii") as file:
                file.write(f"#!/bin/sh\ntouch {folder}/canary\n")
            os.chmod(file.name, 0o755)
        run = pinfold("run", "--ids", "range", *python, PROGRAM, env={"PATH": folder + ":" + os.environ["PATH"]})
        is_(run.status, "exited", "--ids range", run)
        ok("canary" not in os.listdir(folder), "a newuidmap in PATH is not ours to run")
        lines = dict(line.split(" ", 1) for line in run.out.decode().splitlines())
        is_(lines["own"], "ok", "--ids range: what is one's own stays so", run)
done()
