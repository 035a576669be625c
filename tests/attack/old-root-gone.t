#!/usr/bin/python3
"""FS02: no path, link, descriptor or handle leads to a file of the host, and none of its paths is told."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from attack import *
from host import canary_folder
from pf import *

tree = probe_image()
with canary_folder() as (folder, secret):
    host = subprocess.Popen(["/bin/sleep", "60"])
    attack({
        "FS02.direct": "ENOENT", "FS02.dotdot": "ENOENT", "FS02.proc-1-root": "EACCES", "FS02.proc-1-cwd": "EACCES",
        "FS02.proc-self-root": "ENOENT", "FS02.every-root": "ENOENT|EACCES", "FS02.every-cwd": "ENOENT|EACCES",
        "FS02.every-fd": "ENOENT|EACCES", "FS02.chroot": "EPERM", "FS02.handle": "EPERM",
    }, tree, env={"CANARY": os.path.join(folder, "secret"), "TARGET": str(host.pid)})
    host.kill()
    host.wait()

# The program's own path may be a link of the image. While the kernel looks it up, descriptors of ours
# that are folders of the host would lead there; so would the interpreter of a script and of an ELF.
folder = tmpdir("root" if os.geteuid() == 0 else None)
program = os.path.join(folder, "program")
shutil.copyfile(PROBE, program)
os.chmod(program, 0o755)
is_(subprocess.run([program, "do", "nothing"], check=False).returncode, 0, "unconfined the host's program runs")
up = "../" * 40
ways = [f"/proc/self/fd/{n}" for n in range(3, 24)]
ways += ["/proc/1/root", "/proc/1/cwd", "/proc/self/cwd", "/proc/self/root", "/proc/thread-self/root", ""]
linked = probe_image({f"bin/link-{i}": ("link", f"{way}/{up}{program}") for i, way in enumerate(ways)})
image({f"bin/script-{i}": f"#!{way}/{up}{program}\n".encode() for i, way in enumerate(ways)}, linked)
for kind, name, which in ("its own path", "link", range(len(ways))), ("its interpreter", "script", (0, 1, 2, 3, 21)):
    started = [ways[i] for i in which if
               pinfold("run", linked, f"/bin/{name}-{i}", "do", "nothing", result=False).code not in (126, 127)]
    is_(started, [], f"{kind} cannot be a program of the host")

# What everybody may read about pid 1 and about itself.
mark = "a-caller-s-secret-folder"
place = os.path.join(tmpdir(), mark)
os.mkdir(place)
if os.geteuid() == 0 and WHO == "user":
    shutil.chown(place, TEST_ACCOUNT, TEST_ACCOUNT)
files = [f"/proc/{who}/{name}" for who in ("1", "self") for name in
         ("cmdline", "comm", "status", "stat", "cgroup", "mountinfo", "limits", "environ", "maps", "mounts", "mountstats")]
run = pinfold("run", "--result", os.path.join(place, "r.json"), "--stdout", os.path.join(place, "out"), tree,
              "/bin/probe", "do", "cat", "/proc/1/cmdline", result=False, env={"SECRET": mark})
with open(os.path.join(place, "out"), "rb") as file:
    seen = file.read()
like(seen, rb"^pinfold: init", "pid 1's command line says what it is")
unlike(seen, mark.encode(), "and none of the caller's words")
for who in ("1", "self"):
    run = do(tree, "cat", *(path for path in files if who in path), flags=["--stderr", os.path.join(place, "err")],
             env={"SECRET": mark})
    ok(len(run.out) > 2000, f"the files of {who} say something", run)
    unlike(run.out, rb"%s|/home/|/root/" % mark.encode(), f"the files of {who} name nothing of the caller's")
done()
