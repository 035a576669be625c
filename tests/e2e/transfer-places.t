#!/usr/bin/python3
"""Inputs, archives and artifacts work with each way of getting ids, and inside namespaces of somebody's: what goes in belongs to
the program, what comes out to the caller, files that the program closed to all among it."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *
import pf

UNSHARE = "/usr/bin/unshare"
work = tmpdir()
os.mkdir(os.path.join(work, "folder"))
with open(os.path.join(work, "folder/file"), "w", encoding="ascii") as file:
    file.write("in\n")
os.link(os.path.join(work, "folder/file"), os.path.join(work, "folder/again"))
subprocess.run(["tar", "-C", work, "-czf", os.path.join(work, "packed"), "folder"], check=True)
SCRIPT = ('cat copied/file unpacked/folder/again /run/input/read-only/file; test copied/file -ef copied/again && echo linked; echo more >> copied/file && mkdir unpacked/new && echo own; '
          'test "$(stat -c %u copied/file unpacked/folder)" = "$(id -u; id -u)" && echo mine; echo "{}" > out.json; chmod 0 out.json; mkdir closed; echo x > closed/x; chmod 0 closed')
WANT = b"in\nin\nin\nlinked\nown\nmine\n"


def check(name, wrapper, *options, who=WHO):
    folder = tmpdir(who)
    result, out = os.path.join(folder, "result.json"), os.path.join(folder, "out")
    argv = [*wrapper, program_path(who), "run", "--result", result, *options, "--input", work + "/folder:copied", "--input", work + "/packed:unpacked:unpack",
            "--input-ro", work + "/folder:read-only", "--artifact", "out.json:type=json:required", "--artifact", "closed/*:required", "--artifacts-dir", out, "@host", "sh", "-c", SCRIPT]
    ended = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd="/", timeout=120, check=False,
                           env=pf._environment(who), **pf._credentials(who))
    run = Run(argv, ended.returncode, ended.stdout, ended.stderr, 0, result, None)
    is_((run.status, run.out, run.result["ok"]), ("exited", WANT, True), f"{name}: inputs are there and the program's own, what is required came out", run)
    owner = os.stat(folder).st_uid
    found = sorted((entry.name, entry.stat().st_uid == owner, oct(entry.stat().st_mode & 0o7777)) for entry in os.scandir(out)) if os.path.isdir(out) else None
    is_(found, [("closed+x", True, "0o600"), ("out.json", True, "0o600")], f"{name}: and the caller's own")
    is_(oct(os.stat(out).st_mode & 0o7777) if os.path.isdir(out) else None, "0o700", f"{name}: the folder that is made is its alone")
    return run


check("as it is", [])
check("with a umask that takes everything, and little cpu time", ["sh", "-c", 'umask 0777; ulimit -t 2; exec "$@"', "sh"])
if WHO == "user":
    check("a single id", [], "--ids", "single")
if os.path.exists("/usr/bin/newuidmap") or WHO == "root":
    run = check("a range of ids", [], "--ids", "range")
    is_(json.dumps(run.guarantee("ids")).count("65536") > 0 or run.guarantee("ids")["state"] == "enforced", True, "which is one", str(run.guarantee("ids")))
else:
    skip(3, "no newuidmap")
if WHO == "root":
    check("another id of the range", [], "--uid", "4711")
if os.path.exists(UNSHARE):
    for name, options in {"root of a user namespace": ["-r"], "with mounts and processes of its own": ["-r", "-m", "-p", "-f", "--mount-proc"],
                          "with every namespace": ["-r", "-m", "-p", "-f", "--mount-proc", "-n", "-i", "-u", "-C"]}.items():
        check(name, [UNSHARE, *options], who="user")
else:
    skip(6, "needs unshare")
done()
