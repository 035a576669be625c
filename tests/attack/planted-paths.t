#!/usr/bin/python3
"""SV02, SV04: where results and events go cannot be turned elsewhere by a planted link, and an id is only a name."""
import os
import json
import stat
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from attack import *
from pf import *

from host import canary_folder

tree = probe_image()


def held(*flags):
    """A run that lasts until a byte comes."""
    _, marked = mark_flags()
    running = start("run", *marked, *flags, "--stdin", "-", tree, "/bin/probe", "do", "list-later", "/data",
                    stdin=subprocess.PIPE, result=False)
    is_(running.process.stdout.readline(), b"ready\n", "a run that waits")
    return running


with canary_folder() as (canary, secret):
    target = os.path.join(canary, "secret")
    folder = tmpdir()
    for name, make in ("a link to a file", lambda p: os.symlink(target, p)), ("a dangling link", lambda p: os.symlink(canary + "/new", p)), \
            ("a FIFO", os.mkfifo), ("a folder", os.mkdir):
        path = os.path.join(folder, name.replace(" ", "-"))
        make(path)
        before = os.lstat(path)
        run = pinfold("run", "--result", path, tree, "/bin/probe", "do", "nothing", result=False)
        is_((run.code, run.out, os.lstat(path).st_ino), (125, b"", before.st_ino), f"--result: {name} is refused, and stays", run)

    # Planted while the program runs: a link in the place of the file, then in the place of its folder.
    path = os.path.join(folder, "late.json")
    with held("--result", path) as running:
        os.symlink(target, path)
        run = running.wait(stdin=b"\n")
    with open(path, encoding="utf-8") as file:
        is_((os.path.islink(path), json.load(file)["status"]), (False, "exited"), "a link planted later is replaced, not followed")
    moved = os.path.join(folder, "folder")
    os.mkdir(moved)
    if os.geteuid() == 0:
        os.chown(moved, *OWNER)
    with held("--result", os.path.join(moved, "r.json"), "--events", os.path.join(moved, "e.jsonl")) as running:
        os.rename(moved, moved + ".2")
        os.symlink(canary, moved)
        running.wait(stdin=b"\n")
    is_(sorted(os.listdir(moved + ".2")), ["e.jsonl", "r.json"], "both go to the folder that was there at the start")
    with open(os.path.join(moved + ".2", "e.jsonl"), encoding="utf-8") as file:
        is_(json.loads(file.readlines()[-1])["event"], "ended", "to the last event")

# In a folder for everybody, where another user planted a link or a file; the host's own protection is off, or this is root's.
if os.geteuid() == 0 and WHO == "root":
    nobody = 65534
    with canary_folder() as (canary, secret):
        shared = tmpdir()
        os.chmod(shared, 0o1777)
        folder, mine, theirs = tmpdir(), os.path.join(shared, "mine"), os.path.join(shared, "theirs")
        for path, owner in (mine, 0), (theirs, nobody):
            os.symlink(folder, path)
            os.chown(path, owner, owner, follow_symlinks=False)
        job, store = os.path.join(tmpdir(), "job.json"), tmpdir()
        with open(job, "w", encoding="utf-8") as file:
            json.dump({"image": tree, "stages": [{"name": "one", "command": ["/bin/probe", "do", "nothing"], "artifacts": {"collect": ["x"]}}]}, file)
        for path, code in (mine, 0), (theirs, 125), (theirs + "/", 125), (theirs + "//", 125):
            run = pinfold("run", "--artifacts-dir", path, "--artifact", "x", tree, "/bin/probe", "do", "nothing")
            is_(run.code, code, f"--artifacts-dir: {path[len(shared):]} is {'refused' if code else 'followed'}", run)
            said = subprocess.run([program_path(), "job", "run", "--artifacts-dir", path, job], capture_output=True, check=False,
                                  env={**os.environ, "PINFOLD_STORE": store})
            ok(code == 0 or said.returncode == 125, "of a job, too", said)
            for text in [run.message, said.stdout.decode() + said.stderr.decode()] if code else []:
                like(text, r"a link of another user's in a folder that everybody may write to", "with the reason")
        for option in ("--events", "--stdout", "--stderr"):
            shared = tmpdir()
            os.chmod(shared, 0o1777)
            link, dangling, taken = (os.path.join(shared, name) for name in ("link", "dangling", "taken"))
            os.symlink(os.path.join(canary, "secret"), link)
            os.symlink(os.path.join(canary, f"new{option}"), dangling)
            with open(taken, "w", encoding="utf-8") as file:
                file.write("theirs")
            for path in link, dangling, taken:
                os.chown(path, nobody, nobody, follow_symlinks=False)
            for path in link, dangling, taken:
                run = pinfold("run", option, path, tree, "/bin/probe", "do", "nothing")
                is_((run.status, run.code), ("refused", 125), f"{option}: another user's {os.path.basename(path)}: refused", run)
                like(run.message, r"of another user's in a folder that everybody may write to", "with the reason")
            with open(taken, encoding="utf-8") as file:
                is_(file.read(), "theirs", f"{option}: their file is as it was")
            ok(not os.path.exists(os.path.join(canary, f"new{option}")), f"{option}: nothing was made behind the dangling link")
            if option == "--stdout":
                with open(taken, "ab") as file:
                    run = pinfold("run", option, "/dev/stdout", tree, "/bin/probe", "do", "nothing", stdout=file)
                is_(run.status, "exited", "what the caller has opened is taken, wherever it lies", run)
            # Whoever reads their FIFO would read what is written: the host's fs.protected_fifos may be 0.
            fifo, through = os.path.join(shared, "fifo"), os.path.join(tmpdir(), "through")
            os.mkfifo(fifo)
            os.chmod(fifo, 0o666)
            os.chown(fifo, nobody, nobody)
            reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
            os.symlink(fifo, through)
            os.symlink(taken, through + ".file")
            for path in fifo, through, through + ".file":
                run = pinfold("run", option, path, tree, "/bin/probe", "do", "nothing")
                is_((run.status, run.code), ("refused", 125), f"{option}: {os.path.basename(path)}, another user's: refused", run)
                like(run.message, r"a (FIFO|file) of another user's in a folder that everybody may write to", "with the reason")
            if option != "--events":
                for path in link, dangling, taken, fifo, through:
                    inode, size = os.lstat(path).st_ino, os.path.getsize(taken)
                    said = [pinfold(command, option, path, tree, "/bin/probe", "do", "nothing", **more)
                            for command, more in (("explain", {}), ("run", {"result": False}))]
                    is_(said[0].code, 125, f"explain {option}: {os.path.basename(path)} is refused", said[0])
                    is_(*[[line for line in run.err.splitlines() if b"refused" in line or b"setup-failed" in line] for run in said],
                        "in the words of run")
                    is_((os.lstat(path).st_ino, os.path.getsize(taken)), (inode, size), "and nothing is touched")
            is_(os.read(reader, 10), b"", f"{option}: whoever reads it learns nothing")
            os.close(reader)
            mine = os.path.join(shared, "mine")
            os.mkfifo(mine)
            reader = os.open(mine, os.O_RDONLY | os.O_NONBLOCK)
            run = pinfold("run", option, mine, tree, "/bin/probe", "do", "nothing")
            ok(run.status == "exited" and stat.S_ISFIFO(os.stat(mine).st_mode), f"{option}: a FIFO of one's own is taken", run)
            os.close(reader)
            own = os.path.join(shared, "own")
            os.symlink(os.path.join(shared, "target"), own)
            run = pinfold("run", option, own, tree, "/bin/probe", "do", "nothing")
            ok(run.status == "exited" and os.path.exists(os.path.join(shared, "target")), f"{option}: a link of one's own is followed", run)
            os.chmod(shared, 0o755)
            run = pinfold("run", option, taken, tree, "/bin/probe", "do", "nothing")
            is_(run.status, "exited", f"{option}: in a folder of root's own anything may be named", run)
            if option != "--events":
                os.symlink("/nope/new", os.path.join(shared, "nowhere"))
                run = pinfold("explain", option, os.path.join(shared, "nowhere"), tree, "/bin/probe", "do", "nothing")
                is_(run.code, 125, f"explain {option}: a link into a missing folder", run)
else:
    skip("needs root, who may write anywhere", "another user's link in a folder for everybody")

for name in "../x", "a/b", "/tmp/x", "", "x" * 65, "a b", "a\nb", "\x1b[2J", ".", "..", "-x", "pinfold\u202e":
    run = pinfold("run", "--id", name, tree, "/bin/probe", "do", "nothing")
    is_((run.status, run.code, run.out), ("refused", 125, b""), f"--id {name!r} is refused", run)
    unlike(run.err, rb"[\x00-\x08\x0b-\x1f\x7f]|\xe2\x80\xae", f"--id {name!r}: nothing of it drives a terminal")

_, flags = mark_flags()
with start("run", *flags, "--stdin", "-", tree, "/bin/probe", "do", "list-later", "/data", stdin=subprocess.PIPE) as running:
    running.process.stdout.readline()
    run = pinfold("run", *flags, tree, "/bin/probe", "do", "nothing")
    is_((run.status, run.code), ("refused", 125), "an id that is in use is refused", run)
    is_(running.wait(stdin=b"\n").status, "exited", "and the run that has it goes on")
done()
