#!/usr/bin/python3
"""A stored image runs by its name, and what it says of itself comes below what the caller says: Env, WorkingDir, Entrypoint, Cmd
and User; a name that is not stored says how to get it."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from images import *
from pf import *

store = Store()
tree = layer(busybox_tree(**{"etc/passwd": busybox_tree()["etc/passwd"], "bin/more": ("link", "busybox")}))


def load(name, data=tree, **run):
    loaded = store.image("load", "--name", name, "-", stdin=layout_tar([data], **run))
    is_(loaded.code, 0, f"{name} is loaded", loaded)


# ---- words ----
load("both", Entrypoint=["/bin/echo", "entry"], Cmd=["cmd"])
load("cmd", Cmd=["/bin/echo", "cmd"])
load("entry", Entrypoint=["/bin/echo", "entry"])
load("none")
for args, out in {("both",): b"entry cmd\n", ("both", "a", "b"): b"entry a b\n", ("cmd",): b"cmd\n", ("cmd", "/bin/echo", "x"): b"x\n",
                  ("entry",): b"entry\n", ("entry", "y"): b"entry y\n"}.items():
    run = store.run(*args)
    is_((run.status, run.out), ("exited", out), " ".join(args), run)
run = store.run("none")
is_((run.status, run.code), ("refused", 125), "neither Entrypoint nor Cmd nor words: refused", run)
ok("neither Entrypoint nor Cmd" in run.message, "and the message says so", run)
ok(store.run("both").result["image"]["digest"].startswith("sha256:"), "the result has the image's id")

# ---- Env, WorkingDir ----
load("env", Cmd=["/bin/sh", "-c", "echo $A $B $C; pwd"], Env=["A=image", "B=image", "PATH=/bin", "B=later"], WorkingDir="/work")
is_(store.run("env").out, b"image later\n/work\n", "Env and WorkingDir count")
is_(store.run("--env", "A=caller", "--env", "C=caller", "--workdir", "/bin", "env").out, b"caller later caller\n/bin\n", "the caller's count more")
# Docker passes on what no shell could set, too.
load("odd", Cmd=["/bin/busybox", "env"], Env=["a.b=dot", "A-B=1", "1X=digit", "a b=blank", "\u00fc=\u00e4", "a.b=later"])
run = store.run("odd")
is_([line for line in sorted(run.out.decode().splitlines()) if line.split("=")[0] in ("a.b", "A-B", "1X", "a b", "\u00fc")],
    ["1X=digit", "A-B=1", "a b=blank", "a.b=later", "\u00fc=\u00e4"], "Env with names that no shell could set", run)
run = store.run("--env", "a.b=caller", "odd")
ok(run.code == 125 and "a name has letters" in run.message, "which a caller's may not be: there it is a slip", run)
load("nowhere", Cmd=["/bin/true"], WorkingDir="/not/there")
run = store.run("nowhere")
is_(run.code, 125, "a WorkingDir that is not there is refused", run)
ok("/not/there" in run.message, "and named", run)

# ---- User ----
IDS = ["/bin/sh", "-c", "id -u; id -g; id -un"]
for user, uid, gid, name in (("app", 1234, 1235, b"app"), ("1234", 1234, 1235, b"app"), ("1234:50", 1234, 50, b"app"), ("app:staff", 1234, 50, b"app"),
                             ("4321", 4321, 0, b"user"), ("5000", 5000, 0, b"user"), ("0", 0, 0, b"root"), ("", 1000, 1000, b"user"),
                             ("+1234", 1234, 1235, b"app"), ("+4321:+7", 4321, 7, b"user"), ("-0", 0, 0, b"root")):
    load("user", Cmd=IDS, User=user)
    run = store.run("user")
    is_(run.out.split(), [str(uid).encode(), str(gid).encode(), name], f"User {user!r}", run)
# What is all digits is the id, whatever accounts are called.
digits = layer(busybox_tree(**{"etc/passwd": b"root:x:0:0::/:/bin/sh\n1000:x:0:0::/:/bin/sh\n1234:x:77:88::/:/bin/sh\n00000001000:x:0:0::/:/bin/sh\nnamed:x:1234:99::/:/bin/sh\n",
                               "etc/group": b"root:x:0:\n50:x:0:\n"}))
for user, uid, gid in (("1000", 1000, 0), ("1234", 1234, 99), ("1234:50", 1234, 50), ("1000:50", 1000, 50), ("00000001000", 1000, 0), ("named:50", 1234, 50)):
    load("digits", digits, Cmd=IDS, User=user)
    run = store.run("digits")
    is_(run.out.split()[:2], [str(uid).encode(), str(gid).encode()], f"User {user!r} among accounts that are called by numbers", run)
load("user", Cmd=IDS, User="app")
is_(store.run("--uid", "42", "user").out.split()[:2], [b"42", b"42"], "--uid counts more")
for user, says in (("nobody-knows", "/etc/passwd does not have"), ("app:nogroup-here", "/etc/group does not have"), ("70000", "not in the map"),
                   ("big", "not in the map"), ("4294967296", "not in the map"), ("-1", "below 0"), ("app:-1", "below 0"), ("+", "/etc/passwd does not have"),
                  ("+5x", "/etc/passwd does not have")):
    load("bad", Cmd=IDS, User=user)
    run = store.run("bad")
    is_((run.status, run.code), ("refused", 125), f"User {user}: refused", run)
    ok(says in run.message and "--uid" in run.message, f"User {user}: says why, and the way out", run)

# ---- a hostile /etc/passwd is the image's own, or nothing ----
outside = os.path.join(tmpdir(), "passwd")
with open(outside, "w", encoding="ascii") as file:
    file.write("planted:x:4242:4242::/:/bin/sh\n")
for target in (outside, "../../../../../../.." + outside):
    load("linked", layer(busybox_tree(**{"etc/passwd": ("link", target)})), Cmd=IDS, User="planted")
    run = store.run("linked")
    is_((run.status, run.code), ("refused", 125), "a link out of the tree is not followed", run)
load("inside", layer(busybox_tree(**{"etc/passwd": ("link", "/etc/real"), "etc/real": b"planted:x:4242:4242::/:/bin/sh\n"})), Cmd=IDS, User="planted")
is_(store.run("inside").out.split()[:1], [b"4242"], "control: one within the tree is")

# ---- T23: folders of the image cannot be moved, with an overlay over it or without: EROFS, and neither EXDEV nor a copy ----
targets = {name: ("dir", 0o755) for name in ("proc", "sys", "dev", "tmp", "run", "scratch")}
for what, data in ("a skeleton over the image", tree), ("every target there", layer({**busybox_tree(), **targets})):
    load("moves", data, User="0")
    run = store.run("moves", "/bin/busybox", "mv", "/work", "/work2")
    is_((run.status, run.code), ("exited", 1), f"{what}: mv of a folder fails", run)
    ok(b"Read-only file system" in run.err, f"{what}: and says why", run)
    is_(store.image("verify", "moves").code, 0, f"{what}: the tree is as it was")

# ---- names ----
run = store.run("no-such-name", "true")
is_((run.status, run.code), ("refused", 125), "a name that is not stored is refused", run)
ok("image load" in run.message and "image pull HOST/" in run.message, "and the message says how to get one", run)
run = store.run("registry.test/a/b:1", "true")
ok("pinfold image pull registry.test/a/b:1" in run.message, "for a registry's name the very command", run)
run = store.run("--pull", "missing", "127.0.0.1:1/a/b:1", "true")
is_((run.status, run.code), ("refused", 125), "--pull missing that fails is a refusal", run)
folder = tmpdir()
os.mkdir(os.path.join(folder, "cmd"))
run = store.run("cmd", "true", cwd=folder)
is_((run.status, run.code), ("refused", 125), "a name that is a folder here too is refused", run)
ok("./cmd" in run.message and "sha256:" in run.message, "and the message says how to mean which", run)
ident = store.image("inspect", "cmd").out.split(b"\n")[1].split()[1].decode()
is_(store.run(ident, cwd=folder).out, b"cmd\n", "an id runs too")
run = pinfold("explain", "env", env=store.env)
is_(run.code, 0, "explain knows stored images", run)
ok(b"A=image" in run.out, "and what they say", run)
is_(store.image("remove", "both").code, 0, "after all of these runs no lock is left")
done()
