#!/usr/bin/python3
"""T69, T71: what a program leaves in its scratch is in nobody's way, whatever its modes and owners; and a supervisor that is
killed leaves no file anywhere, in the middle of inputs, of a run or of its artifacts."""
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *
import pf

# ---- T69 ----
MESS = ("mkdir -p a/b/c d; echo x > a/b/file; mkfifo d/fifo; ln -s / d/root; ln a/b/file d/hard; truncate -s 1T d/hole; chmod 0 a/b a d/hole d; "
        "python3 -c 'import os, socket\nos.chdir(\"/tmp\")\nfor n in range(200): os.mkdir(\"deep\"); os.chdir(\"deep\")'; ls -A /scratch | wc -l")
kept = os.path.join(tmpdir(), "kept")
for turn in range(2):
    run = pinfold("run", "--artifact", "a/b/*", "--artifacts-dir", os.path.join(kept + str(turn)), "@host", "sh", "-c", "ls -A /scratch /tmp; " + MESS)
    is_((run.status, run.code, run.out), ("exited", 0, b"/scratch:\n\n/tmp:\n2\n"), "a scratch of folders that nobody may enter: the next run starts with an empty one", run)
    is_(sorted((row["path"], row["status"]) for row in run.result["artifacts"]), [("a/b/c", "rejected"), ("a/b/file", "kept")], "and what was declared comes out of them", run)
if WHO == "root":
    run = pinfold("run", "--uid", "4711", "@host", "sh", "-c", "mkdir x; chmod 0 x; id -u")
    is_((run.status, run.out), ("exited", b"4711\n"), "files of another id of the slot", run)
    is_(pinfold("run", "@host", "ls", "-A", "/scratch").out, b"", "are gone too")

# ---- T71 ----
home = tmpdir()
source = os.path.join(home, "source")
os.mkdir(source)
with open(os.path.join(source, "big"), "wb") as file:
    for _ in range(48):
        file.write(os.urandom(1 << 20))
subprocess.run(["tar", "-C", source, "-cf", os.path.join(home, "big.tar"), "big"], check=True)
out = os.path.join(home, "out")
os.mkdir(out)
if pf.account(WHO):
    subprocess.run(["chown", "-R", f"{os.stat(home).st_uid}:{os.stat(home).st_gid}", home], check=True)
PLACES = [home, "/etc/pinfold", "/var/lib/pinfold", "/run/pinfold", os.path.expanduser("~/.config"), "/dev/mqueue"]


def snapshot():
    """Every name there is, with its kind, mode, owner, size and time of change; and who is alive, and mounted."""
    listing = subprocess.run(["find", *[place for place in PLACES if os.path.exists(place)], "-printf", "%p|%y|%m|%U|%G|%s|%T@|%C@|%l\n"],
                             stdout=subprocess.PIPE, check=False).stdout
    with open("/proc/self/mountinfo", "rb") as file:
        return sorted(listing.split(b"\n")), file.read()


def below(parent):
    pids = [parent]
    for pid in pids:
        try:
            with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
                pids += [int(child) for child in file.read().split()]
        except OSError:
            continue
    return pids


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(") ", 1)[1][0] not in "ZX"
    except OSError:
        return False


def killed(name, stage, options, *command):
    before = snapshot()
    with start("run", "--id", f"left-{os.getpid()}", "--scratch", "256M", "--memory", "512M", *options, *command, result=False, events=True) as running:
        wait_for(lambda: os.path.exists(running.events_file) and stage in open(running.events_file, "rb").read(), what=name)
        pids = below(running.pid)
        running.process.send_signal(signal.SIGKILL)
        running.process.wait()
        wait_for(lambda: not any(map(alive, pids)), what="the end of all of it")
        ok(len(pids) > 1, f"{name}: there was something to end", str(pids))
    after = snapshot()
    strip = lambda rows: [row for row in rows if not row.startswith(out.encode() + b"|")]  # a folder's time is no dropping
    is_((strip(after[0]), after[1]), (strip(before[0]), before[1]), f"{name}: not a file more than before, nor one that differs")


host = ["@host", "sh", "-c"]
killed("while a folder goes in", b'"inputs"', ["--input", source + ":in"], *host, "sleep 100")
killed("while an archive goes in", b'"inputs"', ["--input", os.path.join(home, "big.tar") + ":in:unpack"], *host, "sleep 100")
killed("while the program runs", b'"started"', ["--artifact", "*", "--artifacts-dir", out], *host, "echo x > a; sleep 100")
killed("while artifacts come out", b'"collect"', ["--input", source + ":in", "--artifact", "in/big:max=1G:type=text", "--artifacts-dir", out], *host, "true")
done()
