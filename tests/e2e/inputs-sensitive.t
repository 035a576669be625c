#!/usr/bin/python3
"""What is sensitive does not go in, whatever it is called: judged by what was opened, above it and in it."""
import os
import pwd
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

home = tmpdir()
for name in (".ssh", ".gnupg", ".aws", ".config/gcloud", ".kube", ".docker", ".mozilla", ".config/google-chrome", ".var/app", "snap/firefox",
             ".local/share/keyrings", ".password-store", "work/project"):
    os.makedirs(os.path.join(home, name))
for name in (".ssh/key", ".netrc", "work/project/file"):
    with open(os.path.join(home, name), "w", encoding="ascii") as file:
        file.write("secret\n")
subprocess.run(["chown", "-R", f"{os.stat(home).st_uid}:{os.stat(home).st_gid}", home], check=True)


def run(source, env=None, **more):
    return pinfold("run", "--input", source, tiny(), "/bin/payload", "cat", "/scratch/x/file", env={"HOME": home, **(env or {})}, **more)


def refused(source, why, name, env=None):
    got = run(source, env)
    ok(got.status == "refused" and "is refused" in got.message and why in got.message, name, got)


is_(run(home + "/work/project:x").out, b"secret\n", "control: a folder in a home folder goes in")
refused(home + ":x", "a home folder", "the home folder as a whole does not")
refused(os.path.dirname(home) + ":x", "it holds", "nor what it lies in")
for name in (".ssh", ".gnupg", ".aws", ".config/gcloud", ".kube", ".docker", ".mozilla", ".config/google-chrome", ".var/app", "snap/firefox",
             ".local/share/keyrings", ".password-store", ".netrc"):
    refused(f"{home}/{name}:x", name, f"~/{name}")
refused(home + "/.ssh:x", f"input {home}/.ssh is refused: it is sensitive (keys)", "its name is said once")
refused(home + "/.ssh/key:x", "it lies in", "a file in one of them")
refused(home + "/.config:x", "it holds", "a folder that holds one")
for path in ("/", "/etc", "/etc/passwd", "/proc", "/proc/self/environ", "/sys", "/dev", "/dev/null", "/run", "/home", "/tmp", "/boot"):
    if os.path.exists(path):
        got = run(path + ":x")
        ok(got.status == "refused" and "is refused" in got.message, path, got)

# Two reasons for one place: the stricter one counts. sys of Debian has /dev as its home, backup /var/backups.
with tempfile.NamedTemporaryFile(dir="/dev/shm") as shared:
    refused(shared.name + ":x", "it lies in /dev", "a file in /dev/shm, though /dev is a home folder of /etc/passwd")
for entry in pwd.getpwall():
    if entry.pw_dir in ("/var/backups", "/var/mail", "/var/log") and os.access(entry.pw_dir, os.W_OK):
        with tempfile.NamedTemporaryFile(dir=entry.pw_dir) as file:
            refused(file.name + ":x", "it lies in " + entry.pw_dir, f"a file in {entry.pw_dir}, though it is the home of {entry.pw_name}")
refused(home + "/work/project:x", "it lies in", "the home folder on the caller's own list", {"PINFOLD_SENSITIVE": home})

# Another spelling
os.symlink(home + "/.ssh", home + "/work/innocent")
refused(home + "/work/innocent:x", "it is", "a link to one")
refused(home + "/work/project/../../.ssh/../.ssh:x", "it is", "dots")
got = run(home + "/work:x")
is_(got.status, "exited", "a link in a folder is a link and leads nowhere inside", got)
os.unlink(home + "/work/innocent")

# The caller's own
refused(home + "/work/project:x", "caller's own list", "the caller's own list", {"PINFOLD_SENSITIVE": f"/nowhere:{home}/work"})
refused(home + "/work:x", "it holds", "and what holds one of it", {"PINFOLD_SENSITIVE": home + "/work/project"})
got = run(home + "/work:x", {"PINFOLD_SENSITIVE": "relative"})
ok(got.status == "refused" and "not absolute" in got.message, "one that is no absolute path is a mistake", got)
is_(run(home + "/work/project:x", {"PINFOLD_INPUT_BASE": home + "/work"}).out, b"secret\n", "what lies in the base goes in")
is_(run(home + "/work/project:x", {"PINFOLD_INPUT_BASE": home + "/work/project"}).out, b"secret\n", "the base itself too")
refused(home + "/work/project:x", "does not lie in", "what does not lie there is refused", {"PINFOLD_INPUT_BASE": home + "/.config"})
got = run(home + "/work/project:x", {"PINFOLD_INPUT_BASE": ""})
ok(got.status == "refused" and "is empty" in got.message, "a base whose name was lost opens nothing", got)
got = run(home + "/work/project:x", {"PINFOLD_INPUT_BASE": "/nowhere"})
ok(got.status == "refused" and "/nowhere" in got.message, "a base that is not there opens nothing", got)

# Bind mounts: root's to make, seen by whoever runs.
if os.geteuid() != 0:
    skip(9, "a bind mount needs root")
else:
    place = tmpdir()
    os.mkdir(place + "/bound")
    os.mkdir(place + "/file")
    script = (f"mount --bind {home}/.ssh {place}/bound && mount --bind /etc {place}/file && exec \"$@\"")
    inside = ["unshare", "-m", "--propagation", "private", "sh", "-c", script, "sh"]
    for source, why, name in ((place + "/bound", "it is", "a bind mount of one"), (place, "it holds", "a folder with one bound in it"),
                              (place + "/file/ssl", "it lies in", "what lies in a bind mount of one")):
        got = run(source + ":x", within=inside)
        ok(got.status == "refused" and why in got.message, name, got)
    # What is bound shows nothing of the folders that it lies in.
    place = tmpdir()
    for name in ("inner", "innocent", "project/inner", "project2"):
        os.makedirs(os.path.join(place, name))
    os.makedirs(home + "/.ssh/deep/er", exist_ok=True)
    for name in ("file", "project2/file"):
        with open(os.path.join(place, name), "w", encoding="ascii"):
            pass
    script = (f"mount --bind {home}/.ssh/deep/er {place}/inner && mount --bind {home}/.ssh/key {place}/file && mount --bind {home}/work/project {place}/innocent && "
              f"mount --bind {home}/.ssh/deep {place}/project/inner && mount --bind {home}/.ssh/key {place}/project2/file && exec \"$@\"")
    inside[-2] = script
    for source, what, name in (("inner", "it", "a bind mount of a folder deep in one"), ("file", "it", "of a file in one"),
                               ("project", "inner", "a folder with such a folder in it"), ("project2", "file", "a folder with such a file in it")):
        got = run(os.path.join(place, source) + ":x", within=inside)
        ok(got.status == "refused" and f"by a mount {what} lies in" in got.message, name, got)
    is_(run(place + "/innocent:x", within=inside).out, b"secret\n", "a bind mount of what is not sensitive goes in")

# Another name of a file
with open(home + "/.netrc", "a", encoding="ascii"):
    pass
os.link(home + "/.netrc", home + "/work/project/second")
refused(home + "/work/project:x", f"input {home}/work/project is refused: second is a second name of {home}/.netrc", "a hard link to one, in a folder")
refused(home + "/work/project/second:x", ".netrc", "and itself")
os.unlink(home + "/work/project/second")
os.makedirs(home + "/.ssh/deep/er", exist_ok=True)
with open(home + "/.ssh/deep/er/key", "w", encoding="ascii"):
    pass
os.link(home + "/.ssh/deep/er/key", home + "/work/project/second")
refused(home + "/work/project:x", "a second name of a file in " + home + "/.ssh (keys)", "a hard link to a file deep in one, in a folder")
refused(home + "/work/project/second:x", "a second name of a file in", "and itself")
refused(home + "/work/project/second:x:unpack", "a second name of a file in", "as an archive, too")
explained = pinfold("explain", "--input", home + "/work/project/second", tiny(), "/bin/payload", env={"HOME": home})
ok(explained.code == 125 and b"a second name of a file in" in explained.err, "which explain says as well", explained)
os.unlink(home + "/work/project/second")
os.link(home + "/work/project/file", home + "/work/project/second")
is_(run(home + "/work/project:x").out, b"secret\n", "control: other hard links go in")
os.unlink(home + "/work/project/second")
shutil.rmtree(home + "/work")
done()
