#!/usr/bin/python3
"""--audit keeps a record of every run: complete lines by the schema, none without a start, none lost to other writers or to
rotation; without a place for it nothing runs."""
import hashlib
import json
import os
import resource
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *
import pf

payload = [tiny(), "/bin/payload"]
MOUNT = {"x86_64": 165, "aarch64": 40}[os.uname().machine]
work = tmpdir()
uid = os.stat(work).st_uid


def log(name):
    return os.path.join(work, name)


def records(path):
    with open(path, "rb") as file:
        return [pf.parse(line, "audit") for line in file]


def brief(path):
    return [r["event"] for r in records(path)]


# ---- what a run leaves ----
path = log("one")
result = log("one.json")
run = pinfold("run", "--audit", path, "--id", "one", "--result", result, *payload, "syscall", MOUNT, "0", "0", "0", "0", "0", ",", "exit", "3", result=False)
is_(run.code, 3, "a run with an audit", run)
is_(brief(path), ["start", "denied", "end"], "start, what was denied, end")
start_, denied, end = records(path)
with open(result, "rb") as file:
    text = file.read()
document = json.loads(text)
is_({r["id"] for r in records(path)}, {"one"}, "each has the run's id")
is_({(r["who"]["uid"], r["who"]["caller_pid"]) for r in records(path)}, {(uid, os.getpid())}, "and who asked")
is_(len({r["who"]["pid"] for r in records(path)}), 1, "by one pid")
is_((denied["kind"], denied["name"]), ("syscall", "mount"), "the system call that was denied")
is_((end["status"], end["exit"], end["denied"]["syscalls"]), ("exited", {"code": 3, "signal": None}, 1), "the end, with its cause")
is_(end["result_sha256"], hashlib.sha256(text).hexdigest(), "and the digest of the result, byte for byte")
is_((start_["spec_sha256"], end["spec_sha256"]), (document["spec_sha256"],) * 2, "the digest of the spec, from the start on")
is_(start_["image"], {"name": tiny(), "digest": None}, "and the image")
times = [r["time"] for r in records(path)]
is_(times, sorted(times), "in the order of time")
is_(os.stat(path).st_mode & 0o777, 0o600, "the file is closed to others")
run = pinfold("run", "--audit", log("twice"), *payload, *(["syscall", MOUNT, "0", "0", "0", "0", "0", ","] * 3), "exit", "0")
is_([r["event"] for r in records(log("twice"))], ["start", "denied", "end"], "what is denied three times is one record", run)
is_(records(log("twice"))[-1]["denied"]["syscalls"], 3, "and three in the end")
run = pinfold("run", "--audit", log("limit"), "--wall", "100ms", *payload, "sleep", "600")
is_([(r["event"], r.get("name")) for r in records(log("limit"))], [("start", None), ("limit", "wall"), ("end", None)], "a limit that ends it", run)

ASK = "import socket\nfor name in 2 * ['evil.example']:\n  try: socket.getaddrinfo(name, 80)\n  except OSError: pass"
run = pinfold("run", "--audit", log("egress"), "--allow", "packages.example:443", "@host", "/usr/bin/python3", "-c", ASK)
is_([(r["event"], r.get("kind"), r.get("name"), r.get("reason")) for r in records(log("egress"))],
    [("start", None, None, None), ("denied", "egress", "evil.example", "no rule names it"), ("end", None, None, None)], "a way out that no rule names", run)
is_(records(log("egress"))[-1]["denied"]["egress"], sum(row["count"] for row in run.result["egress"]), "which the end counts as the result does")


# ---- what goes in and what comes out ----
secret = log("secret")
os.mkdir(secret)
os.mkdir(log("holds"))
os.mkfifo(log("holds/fifo"))
os.mkdir(log("harmless"))
for where in secret, log("holds"), log("harmless"):
    os.chown(where, uid, -1)
for name, source, why in (("is", secret, "is refused: it is"), ("holds", log("holds"), "is refused: fifo is a FIFO"), ("none", log("not-there"), "No such file")):
    path = log(f"input-{name}")
    run = pinfold("run", "--audit", path, "--input", log("harmless") + ":a", "--input", source + ":b", *payload, "echo", "ran", env={"PINFOLD_SENSITIVE": secret})
    is_((run.code, run.status, run.out), (125, "refused", b""), f"an input that is refused ({name})", run)
    is_([(r["event"], r.get("kind"), r.get("name")) for r in records(path)], [("start", None, None), ("denied", "input", source), ("end", None, None)], "is on record by its name")
    ok(why in records(path)[1]["reason"], "with the reason", records(path)[1]["reason"])
path = log("input-sum")
run = pinfold("run", "--audit", path, "--scratch-inodes", "16", *(word for n in range(20) for word in ("--input", f"{log('harmless')}:d{n}")), *payload, "echo", "ran")
is_((run.status, [r["event"] for r in records(path)]), ("refused", ["start", "end"]), "inputs that are too many together: none of them was denied", run)
path = log("input-good")
run = pinfold("run", "--audit", path, "--input", log("harmless") + ":a", *payload, "exit", "0")
is_((run.code, brief(path)), (0, ["start", "end"]), "control: an input that goes in leaves no record", run)
path = log("artifacts")
run = pinfold("run", "--audit", path, "--artifact", "kept", "--artifact", "link", "--artifact", "none", "--artifacts-dir", os.path.join(tmpdir(), "out"),
              "@host", "/bin/sh", "-c", "echo good > kept; ln -s kept link")
is_({row["path"]: row["status"] for row in run.result["artifacts"]}, {"kept": "kept", "link": "rejected", "none": "rejected"}, "artifacts, kept and rejected", run)
is_(sorted((r["event"], r["kind"], r["name"], r["reason"]) for r in records(path)[1:-1]),
    [("denied", "artifact", "link", "it is a symbolic link, which is not followed"), ("denied", "artifact", "none", "nothing of that name is there")],
    "what was rejected is on record, what was kept is not")
is_((brief(path)[0], brief(path)[-1]), ("start", "end"), "between the start and the end")

# ---- refused ones too ----
for number, (words, stage) in enumerate(((["--nonsense", *payload], "spec"), (["/nowhere", "true"], "image"), (["--require", "nonsense", *payload], "spec"),
                                         (["--slots", "1", "--slots-memory", "1M", *payload], "spec"))):
    path = log(f"refused-{number}")
    run = pinfold("run", "--audit", path, *words)
    last = records(path)[-1]
    is_((last["event"], last["status"], last["cause"]["stage"]), ("end", "refused", run.result["cause"]["stage"]), f"refused in {stage}: on record", run)
    is_(run.result["cause"]["stage"], stage, "for that reason")

# ---- no record, no run ----
fifo = log("fifo")
os.mkfifo(fifo)
os.chown(fifo, uid, -1)
folder = tmpdir()
os.chmod(folder, 0o555)
for where, why in (fifo, "not a regular file"), ("/dev/full", "not a regular file"), ("/nowhere/log", "No such file"), (work, "directory"):
    run = pinfold("run", "--audit", where, *payload, "echo", "ran")
    is_((run.code, run.status, run.out), (125, "refused", b""), f"--audit {os.path.basename(where)}: nothing runs", run)
    like(run.message, why, "and why")
    is_(run.err.decode().count(why), 1, "once")
if WHO == "user":
    run = pinfold("run", "--audit", os.path.join(folder, "log"), *payload, "echo", "ran")
    is_((run.status, run.out, run.result["cause"]["stage"]), ("refused", b"", "audit"), "a folder that is not to be written", run)
else:
    skip("needs an ordinary user", "a folder that is not to be written")


run = pinfold("run", "--audit", "/nowhere/log", "--nonsense", *payload)
ok("nonsense" in run.message and run.err.decode().count("/nowhere/log") == 1, "what is not the reason is told beside it", run)


def small_files(size):
    """A limit on files that is met before the record is whole, as on a full disk."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


path = log("full")
run = pinfold("run", "--audit", path, *payload, "echo", "ran", preexec_fn=small_files(40), result=False)
is_((run.code, run.out), (125, b""), "a disk that is full at the start: nothing runs", run)
like(run.err.decode(), r"refused in audit: write to ", "and it is said")
ok(os.stat(path).st_size == 40, "a torn line is left", str(os.stat(path).st_size))
run = pinfold("run", "--audit", path, *payload, "exit", "0")
with open(path, "rb") as file:
    lines = file.read().splitlines()
is_([json.loads(line)["event"] for line in lines[1:]], ["start", "end"], "which spoils none that follows", run)
shown = pinfold("audit", path)
is_((shown.code, len(shown.out.splitlines())), (125, 2), "pinfold audit shows the others", shown)
like(shown.err.decode(), r"1 line of .* is no record", "and counts it")
path = log("later")
pinfold("run", "--audit", path, "--id", "first", *payload, "exit", "0")
size = os.stat(path).st_size
with open(path, "rb") as file:
    start_size = len(file.readline())
run = pinfold("run", "--audit", path, "--id", "later", *payload, "echo", "ran", preexec_fn=small_files(size + start_size + 100), result=False)
is_((run.code, run.out), (125, b"ran\n"), "a disk that is full later: the program has run, and the exit code tells", run)
like(run.err.decode(), r"audit: write to .*(File too large|No space left)", "and stderr")

# ---- many writers, and rotation ----
path = log("many")
WRITERS, ROUNDS = 6, 5
rotated = []


def write_runs(number):
    for turn in range(ROUNDS):
        pinfold("run", "--audit", path, "--id", f"w{number}-{turn}", *payload, "exit", "0", result=False)


threads = [threading.Thread(target=write_runs, args=(n,)) for n in range(WRITERS)]
for thread in threads:
    thread.start()
while any(t.is_alive() for t in threads):
    threads[0].join(0.05)
    if os.path.exists(path):
        rotated.append(f"{path}.{len(rotated)}")
        os.rename(path, rotated[-1])
for thread in threads:
    thread.join()
everything = [r for name in [*rotated, path] if os.path.exists(name) for r in records(name)]
ok(len(rotated) > 2, "the file was renamed under them", str(len(rotated)))
is_(sorted((r["id"], r["event"]) for r in everything),
    sorted((f"w{n}-{t}", event) for n in range(WRITERS) for t in range(ROUNDS) for event in ("end", "start")),
    "every record of every run is there once, in one of the files")

# ---- a file that is something else of the run's ----
same = log("same")
for words in ["--result", same], ["--events", same], ["--stdout", same]:
    run = pinfold("run", "--audit", same, *words, *payload, "echo", "ran", result=False)
    is_((run.code, run.out), (125, b""), f"one file for {words[0]} and --audit: refused", run)
    like(run.err.decode(), r"--audit are one file", "by name")

# ---- pinfold audit ----
path = log("one")
shown = pinfold("audit", path)
is_((shown.code, len(shown.out.splitlines())), (0, 3), "pinfold audit: one line a record", shown)
like(shown.out.decode(), rf"(?m)^20\S+Z one uid {uid} .*pid \d+  denied syscall mount$", "for people")
like(shown.out.decode(), r"(?m)  end exited code 3; denied: system calls 1, network 0; result [0-9a-f]{64}$", "the end in one line")
shown = pinfold("audit", "--json", "--id", "later", log("later"))
is_([json.loads(line)["event"] for line in shown.out.splitlines()], ["start"], "--json and --id", shown)
shown = pinfold("audit", "--json", "--status", "exited", path)
is_([json.loads(line)["event"] for line in shown.out.splitlines()], ["end"], "--status")
for since, count in ("2000-01-01", 3), ("2999-12-31T23:59:59", 0), ("1h", 3), ("0s", 0), (times[2], 1), (times[2][:19], None):
    shown = pinfold("audit", "--since", since, path)
    ok(shown.code == 0 and (count is None or len(shown.out.splitlines()) == count), f"--since {since}", shown)
hostile = dict(records(path)[0], image={"name": "\x1b[2J\nfake\u202e", "digest": None}, id="a")
with open(log("hostile"), "w", encoding="utf-8") as file:
    file.write(json.dumps(hostile, ensure_ascii=False) + "\n")
    file.write('{"schema": "pinfold.audit/1"}\n\n[]\nnonsense\n' + "[" * 3000 + "\n")
shown = pinfold("audit", log("hostile"))
is_((shown.code, shown.err.count(b"4 lines")), (125, 1), "what is no record is counted", shown)
ok(b"\x1b" not in shown.out and shown.out.count(b"\n") == 1 and "\u202e" not in shown.out.decode(), "nothing drives a terminal", shown)
with open(path, "rb") as file:
    shown = pinfold("audit", "-", stdin=file.read())
is_(len(shown.out.splitlines()), 3, "- is stdin", shown)
for words in [], ["a", "b"], ["--frob", path], ["--status", "frob", path], ["--since", "yesterday", path], ["--id"], ["/nowhere/x"]:
    shown = pinfold("audit", *words)
    is_((shown.code, shown.out), (125, b""), f"audit {' '.join(map(os.path.basename, words))}: refused", shown)
done()
