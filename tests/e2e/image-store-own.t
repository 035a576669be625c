#!/usr/bin/python3
"""A store that others may write to, or that is another's, is used by nothing: whoever may write to it says what a run's root is. And
nothing of a store that is no regular file is waited for."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from images import *
from pf import *

store = Store()
loaded = store.image("load", "--name", "x", "-", stdin=layout_tar([layer(busybox_tree())], Cmd=["/bin/echo", "ran"]))
is_(loaded.code, 0, "loaded", loaded)
tree = store.tree("x")
ident = "sha256:" + os.path.basename(tree)


def ways(what, *, whole=True):
    """Neither a run by name, by id, nor a verb takes it."""
    for words in (["x"], [ident]):
        run = store.run(*words)
        is_((run.status, run.code, run.out), ("refused", 125, b""), f"{what}: run {words[0][:10]} is refused", run)
        ok("must belong to the user" in run.message, f"{what}: and says why", run)
    if whole:
        run = store.image("list")
        is_(run.code, 125, f"{what}: so is image list", run)


is_(store.run("x").out, b"ran\n", "control: as it is, it runs")
for folder, whole in (("", True), ("names", True), ("trees", True), (f"trees/{os.path.basename(tree)}", False)):
    path = os.path.join(store.path, folder)
    if folder == "names":  # an id needs no name
        os.chmod(path, 0o777)
        run = store.run("x")
        is_((run.status, run.code), ("refused", 125), "names, 0777: refused", run)
        is_(store.image("list").code, 125, "names, 0777: so is image list")
        os.chmod(path, 0o700)
        continue
    for mode in (0o777, 0o720, 0o702):
        os.chmod(path, mode)
        ways(f"{folder[:10] or 'the store'}, {mode:o}", whole=whole)
    os.chmod(path, 0o700)
    if os.geteuid() == 0:
        was = os.stat(path)
        os.chown(path, 12345, was.st_gid)
        ways(f"{folder[:10] or 'the store'} of another user", whole=whole)
        os.chown(path, was.st_uid, was.st_gid)
os.chmod(store.path, 0o755)
is_(store.run("x").out, b"ran\n", "control: others may read it")
os.chmod(store.path, 0o700)
link = os.path.join(tmpdir(mode=0o700), "link")
os.symlink(store.path, link)
is_(pinfold("run", "x", env={"PINFOLD_STORE": link}).out, b"ran\n", "control: the store may be reached by a link")

# ---- a FIFO, a link, a folder in the place of a file ----
OTHERS = {"a FIFO": os.mkfifo, "a link": lambda path: os.symlink("/etc/passwd", path), "a folder": os.mkdir}


def replaced(path, make, calls):
    os.rename(path, store.path + "/aside")
    make(path)
    runs = [(words, (store.run if words[0] == "x" else store.image)(*words)) for words in calls]
    (os.rmdir if os.path.isdir(path) and not os.path.islink(path) else os.unlink)(path)
    os.rename(store.path + "/aside", path)
    return runs


for what, make in OTHERS.items():
    for path, calls in ((f"{store.path}/names/x:latest", (["x"], ["remove", "x"], ["verify", "x"], ["inspect", "x"])),
                        (f"{tree}/lock", (["x"], ["remove", "x"])),
                        (f"{tree}/image.json", (["x"], ["inspect", "x"])),
                        (f"{tree}/record", (["verify", "x"], ["export", "x", "--output", "/dev/null"])),
                        (f"{store.path}/blobs/sha256/{os.path.basename(tree)}", (["inspect", "--json", "x"],))):
        for words, run in replaced(path, make, calls):
            is_(run.code, 125, f"{os.path.basename(path)[:12]} is {what}: {words[0]} is refused", run)
is_(store.run("x").out, b"ran\n", "control: afterwards it runs")
is_(store.image("remove", "x").code, 0, "and goes")

# ---- no store of this user's: a folder of that name is a folder, and the way out is said ----
work = tmpdir()
os.symlink(tiny(), os.path.join(work, "tree"))
WAY = "PINFOLD_STORE names another, or HOME is to be this user's own"


def shut(what, env, why):
    run = pinfold("run", "tree", "/bin/payload", "exit", "3", env=env, cwd=work)
    is_((run.status, run.code), ("exited", 3), f"{what}: run of a folder takes the folder", run)
    run = pinfold("run", "image", env=env, cwd=work)
    is_((run.status, run.code), ("refused", 125), f"{what}: a name is refused", run)
    ok("could not be opened: " + why in run.message and WAY in run.message, f"{what}: with the reason and the way out", run)
    run = pinfold("image", "list", env=env)
    ok(run.code == 125 and "could not be opened: " + why in run.err.decode() and WAY in run.err.decode(), f"{what}: image list says the same", run)


if WHO == "user" and os.geteuid() == 0:
    other = tmpdir(user="root", mode=0o700)
    shut("a HOME that may not be entered", {"HOME": other}, "it may not be entered")
    is_(os.listdir(other), [], "and nothing is made there")
    os.chmod(other, 0o755)
    os.makedirs(os.path.join(other, ".local/share/pinfold"))
    shut("a HOME of another user's", {"HOME": other}, "it must belong to the user")
    is_(os.listdir(os.path.join(other, ".local/share/pinfold")), [], "nor there")
else:
    skip("needs root to be another user", "another user's HOME")
if os.geteuid() == 0:
    foreign = tmpdir(mode=0o700)
    os.chown(foreign, 12345, -1)
    os.chmod(foreign, 0o755)
    shut("PINFOLD_STORE of another user's", {"PINFOLD_STORE": foreign}, "it must belong to the user")
none = os.path.join(tmpdir(mode=0o700), "store")
for words, said in (["list"], b""), (["list", "--json"], b"[]\n"), (["list", "--names"], b""):
    run = pinfold("image", *words, env={"PINFOLD_STORE": none})
    is_((run.code, run.out, os.path.exists(none)), (0, said, False), f"image {' '.join(words)} makes no store", run)
done()
