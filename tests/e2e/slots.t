#!/usr/bin/python3
"""Independent runs of one user share slots: never more than N at once, first come first served, and neither SIGKILL nor a
signal nor a caller that goes away leaves anything that another would wait for."""
import atexit
import contextlib
import fcntl
import json
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *
import pf

payload = [tiny(), "/bin/payload"]
ENV = {"XDG_RUNTIME_DIR": tmpdir(mode=0o700)}
NAME = f"test-{os.getpid()}"
count = 0


def clean_up():
    """A slot's file is the user's and stays; root's would stay for good."""
    for name in os.listdir(folder()) if os.path.isdir(folder()) else []:
        if name.startswith(f"slots-{NAME}-"):
            os.unlink(os.path.join(folder(), name))


def fresh():
    """Slots that nobody else has: root's are in /run/pinfold, whatever the environment says."""
    global count
    count += 1
    return f"{NAME}-{count}"


def folder():
    """Where they are."""
    return "/run/pinfold" if WHO == "root" else os.path.join(ENV["XDG_RUNTIME_DIR"], "pinfold")


atexit.register(clean_up)


class Events:
    """The events of a run as they come."""

    def __init__(self, *args, **more):
        read_end, write_end = os.pipe()
        self.running = start("run", "--events", f"fd:{write_end}", *args, pass_fds=[write_end], env=ENV, **more)
        os.close(write_end)
        self.file = os.fdopen(read_end, "rb")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.running.__exit__(*exc)
        self.file.close()

    def until(self, *wanted):
        """The first event of one of these kinds."""
        for line in iter(self.file.readline, b""):
            event = pf.parse(line, "event")
            if event["event"] in wanted or (event["event"], event.get("name")) in wanted:
                return event
        return None


def holder(slots, *more):
    """A run that holds a slot until it gets a line or a signal."""
    running = start("run", "--slots", slots, *more, *payload, "await", "10", ",", "exit", "0", env=ENV)
    is_(running.line(), "waiting", "a slot is held")
    return running


@contextlib.contextmanager
def line_of(slots, length):
    """So many that wait for the one slot, in this order; each exits with its position."""
    with contextlib.ExitStack() as stack:
        line = []
        for position in range(1, length + 1):
            line.append(stack.enter_context(Events("--slots", f"1:{slots}", *payload, "exit", position)))
            is_(line[-1].until("queued")["position"], position, f"number {position} stands behind the others")
        yield line


# ---- N at once, and the next one follows ----
slots = fresh()
with holder(f"2:{slots}") as first, holder(f"2:{slots}") as second, Events("--slots", f"2:{slots}", *payload, "exit", "7") as third:
    event = third.until("queued", "started")
    is_((event["event"], event["position"]), ("queued", 1), "the third of two waits, first in line")
    ok(first.process.poll() is None and second.process.poll() is None, "while two hold")
    second.signal(signal.SIGUSR1)
    is_(second.wait().status, "exited", "the later of the two ends first")
    ok(third.until("started"), "then it starts, whichever it was")
    run = third.running.wait()
    is_(run.code, 7, "and runs", run)
    is_(run.err.decode().count("waiting for a slot"), 1, "its position was told once, as stderr is no terminal", run)
    first.signal(signal.SIGUSR1)
    first.wait()
with holder(f"1:{slots}") as one:
    run = pinfold("run", "--slots", f"1:{fresh()}", *payload, "exit", "0", env=ENV)
    is_((run.code, b"waiting" in run.err), (0, False), "slots of another name are free", run)
    one.signal(signal.SIGUSR1)
    one.wait()

# ---- first come, first served ----
slots = fresh()
with holder(f"1:{slots}") as first, line_of(slots, 6) as line:
    first.signal(signal.SIGUSR1)
    first.wait()
    for number, waiter in enumerate(line, 1):
        ok(waiter.until("started"), f"number {number} has its turn")
        is_(waiter.until("ended")["result"]["exit"]["code"], number, "in order")
        waiter.running.wait()

# ---- the position of those that want to know ----
slots = fresh()
with holder(f"1:{slots}") as first, line_of(slots, 2) as (second, third):
    second.running.signal(signal.SIGTERM)
    is_(second.running.wait().status, "cancelled", "the first in line is told to stop")
    is_(third.until("queued")["position"], 1, "then it is the first, and is told")
    first.signal(signal.SIGUSR1)
    first.wait()
    is_(third.running.wait().code, 2, "and has its turn")

# ---- the wait ends: time, signals, kill, a caller ----
slots = fresh()
with holder(f"1:{slots}") as first:
    for queue in "0s", "50ms":
        run = pinfold("run", "--slots", f"1:{slots}", "--queue", queue, *payload, "echo", "ran", env=ENV, events=True)
        is_((run.code, run.status, run.out), (125, "refused", b""), f"--queue {queue}: refused when it is over", run)
        is_(run.err.count(b"waiting"), int(queue != "0s"), "who does not want to wait is not told that it does", run)
        is_((run.result["cause"]["limit"], run.result["cause"]["stage"]), ("queue", "slots"), "with a cause of its own")
        like(run.message, rf'no slot of "{slots}" came free within --queue {queue} \(position 1 in the line\)', "in words")
        is_([e["name"] for e in run.events if e["event"] == "limit"], ["queue"], "and among the events")
    for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP:
        with Events("--slots", f"1:{slots}", *payload, "echo", "ran") as waiter:
            waiter.until("queued")
            waiter.running.signal(number)
            run = waiter.running.wait()
            is_((run.status, run.out, run.evidence.get("signal")), ("cancelled", b"", number.name[3:]), f"{number.name} ends the wait", run)
    name = f"{NAME}-waits"
    with Events("--slots", f"1:{slots}", "--id", name, *payload, "echo", "ran") as waiter:
        waiter.until("queued")
        listed = json.loads(pinfold("ps", "--json", env=ENV).out)
        ok(any(row["id"] == name for row in listed), "ps lists who waits", str(listed))
        run = pinfold("kill", name, env=ENV)
        is_((run.code, waiter.running.wait().status), (0, "cancelled"), "kill ends the wait", run)
    with Events("--slots", f"1:{slots}", *payload, "echo", "ran", within=("sh", "-c", '"$@" & read line; exit 0', "sh"), result=False,
                stdin=-1) as waiter:
        waiter.until("queued")
        waiter.running.process.stdin.close()
        waiter.running.process.stdin = None
        is_(waiter.until("ended")["result"]["status"], "cancelled", "so does the end of the caller")
    run = pinfold("run", "--slots", f"2:{slots}", "--queue", "0s", *payload, "exit", "3", env=ENV)
    is_(run.code, 3, "each run goes by its own number, and who left is in nobody's way", run)
    first.signal(signal.SIGUSR1)
    first.wait()

# ---- SIGKILL: of a holder, of those in line ----
slots = fresh()
with holder(f"1:{slots}") as first, line_of(slots, 3) as (second, third, fourth):
    third.running.signal(signal.SIGKILL)
    third.running.process.wait()
    second.running.signal(signal.SIGKILL)
    second.running.process.wait()
    first.signal(signal.SIGKILL)
    first.process.wait()
    is_(fourth.running.wait().code, 3, "of four the last has its turn when the others were killed")
run = pinfold("run", "--slots", f"1:{slots}", "--queue", "0s", *payload, "exit", "4", env=ENV)
is_(run.code, 4, "and nothing is left that one would wait for", run)
path = os.path.join(folder(), f"slots-{slots}")
is_((os.stat(path).st_mode & 0o777, os.stat(os.path.dirname(path)).st_mode & 0o777), (0o600, 0o700), "the file and its folder are closed to others")

is_([name for name in os.listdir(folder()) if not name.startswith("slots-") and name != "id-slots"], [], "no other file is there, whoever was killed")

# ---- a stopped holder keeps its slot ----
slots = fresh()
with holder(f"1:{slots}") as first:
    first.signal(signal.SIGSTOP)
    run = pinfold("run", "--slots", f"1:{slots}", "--queue", "100ms", *payload, "echo", "ran", env=ENV)
    is_((run.status, run.out), ("refused", b""), "a holder that is stopped still holds", run)
    first.signal(signal.SIGCONT)
    first.signal(signal.SIGUSR1)
    is_(first.wait().code, 0, "and goes on")

# ---- one that is stopped in the middle of a look ----
slots = fresh()
pinfold("run", "--slots", f"1:{slots}", *payload, "exit", "0", env=ENV)
with open(os.path.join(folder(), f"slots-{slots}"), "r+b") as file:
    fcntl.lockf(file, fcntl.LOCK_EX, 1, 0)
    run = pinfold("run", "--slots", f"1:{slots}", "--queue", "0s", *payload, "echo", "ran", env=ENV)
    is_((run.status, run.result["cause"]["limit"], run.out), ("refused", "queue", b""), "who does not want to wait does not", run)
    like(run.message, r"could not be seen within --queue 0s, as a run that was looking is stopped", "and is told why")
    with Events("--slots", f"1:{slots}", "--id", f"{NAME}-blocked", *payload, "echo", "ran") as waiter:
        wait_for(lambda: any(row["id"] == f"{NAME}-blocked" for row in json.loads(pinfold("ps", "--json", env=ENV).out)), what="a run that looks")
        waiter.running.signal(signal.SIGTERM)
        is_(waiter.running.wait().status, "cancelled", "who waits can be told to stop")
    with Events("--slots", f"1:{slots}", "--id", f"{NAME}-goes-on", *payload, "exit", "3") as waiter:
        wait_for(lambda: any(row["id"] == f"{NAME}-goes-on" for row in json.loads(pinfold("ps", "--json", env=ENV).out)), what="a run that looks")
        fcntl.lockf(file, fcntl.LOCK_UN, 1, 0)
        is_(waiter.running.wait().code, 3, "and goes on when the other does")

# ---- another pid namespace ----
slots = fresh()
if os.geteuid() == 0:
    with holder(f"1:{slots}") as first:
        run = pinfold("run", "--slots", f"1:{slots}", *payload, "echo", "ran", env=ENV, within=("unshare", "-pf", "--mount-proc"))
        is_((run.status, run.out, run.result["cause"]["limit"]), ("refused", b"", None), "who cannot see the holder cannot wait for it: refused", run)
        like(run.message, r"a run of another pid namespace uses these", "and says so")
        first.signal(signal.SIGUSR1)
        first.wait()
    run = pinfold("run", "--slots", f"1:{slots}", *payload, "exit", "3", env=ENV, within=("unshare", "-pf", "--mount-proc"))
    is_(run.code, 3, "free ones it may have", run)
else:
    skip("needs root", "another pid namespace")

# ---- a full disk ----
if os.geteuid() == 0:
    place = os.path.dirname(folder()) if WHO == "root" else tmpdir(mode=0o700)
    owner = os.stat(place)
    full = f'mount -t tmpfs -o size=64k,mode=0700,uid={owner.st_uid},gid={owner.st_gid} x "$0" && exec "$@"'
    with_full = ("unshare", "-m", "sh", "-c", full, place)
    run = pinfold("run", "--slots", f"1:{fresh()}", *payload, "exit", "0", env={"XDG_RUNTIME_DIR": place}, within=with_full)
    is_((run.code, run.status), (125, "refused"), "no room for the table: refused, and not ended by a signal", run)
    like(run.message, r"slots: make room in slots-\S+: No space left on device", "and says so")
else:
    skip("needs root", "a full disk")

# ---- memory ----
slots = fresh()
MEMORY = ["--slots", f"8:{slots}", "--slots-memory", "300M", "--queue", "0s"]
with holder(f"8:{slots}", "--memory", "200M") as first:
    run = pinfold("run", *MEMORY, "--memory", "100M", *payload, "exit", "5", env=ENV)
    is_(run.code, 5, "200M and 100M fit into 300M", run)
    run = pinfold("run", *MEMORY, "--memory", "101M", *payload, "exit", "5", env=ENV)
    is_((run.status, run.result["cause"]["limit"]), ("refused", "queue"), "200M and 101M do not", run)
    with Events("--slots", f"8:{slots}", "--slots-memory", "300M", "--memory", "150M", *payload, "exit", "0") as large:
        large.until("queued")
        run = pinfold("run", *MEMORY, "--memory", "1M", "--scratch", "64K", *payload, "exit", "5", env=ENV)
        is_(run.status, "refused", "nor does a small one pass a large one that is first in line", run)
        first.signal(signal.SIGUSR1)
        first.wait()
        is_(large.running.wait().code, 0, "which has its turn when there is room")
with holder(f"8:{slots}", "--memory", "none") as first:
    run = pinfold("run", *MEMORY, "--memory", "1M", "--scratch", "64K", *payload, "exit", "5", env=ENV)
    is_(run.status, "refused", "beside a run without a limit nothing fits", run)
    first.signal(signal.SIGUSR1)
    first.wait()
for memory, shown in ("301M", "301M"), ("none", "none"):
    run = pinfold("run", "--slots-memory", "300M", "--memory", memory, *payload, "exit", "5", env=ENV)
    is_((run.status, run.result["cause"]["limit"]), ("refused", None), f"memory {memory} never fits", run)
    like(run.message, rf"memory {shown} is more than slots-memory 300M", "in words")

# ---- words, and places ----
for word in "0", "513", "-1", "1:", "1:a/b", "1:.x", ":x", "1:" + "x" * 33, "two", "":
    run = pinfold("run", "--slots", word, *payload, "exit", "0", env=ENV)
    is_((run.code, run.status), (125, "refused"), f"--slots '{word[:20]}' is refused", run)
run = pinfold("run", "--queue", "5s", *payload, "exit", "0", env=ENV)
is_((run.code, run.status), (125, "refused"), "a time to wait, and nothing to wait for: refused", run)
run = pinfold("run", "--slots", "none", "--queue", "0s", *payload, "exit", "6", env=ENV)
is_(run.code, 6, "--slots none shares nothing", run)
if WHO == "user":
    open_to_all = tmpdir(mode=0o777)
    for where, why in (open_to_all, "closed to others"), ("/nowhere", "No such file"):
        run = pinfold("run", "--slots", f"1:{fresh()}", *payload, "exit", "0", env={"XDG_RUNTIME_DIR": where})
        is_((run.code, run.status), (125, "refused"), f"a folder {os.path.basename(where)} that will not do: refused", run)
        like(run.message, why, "and says why")
    linked = tmpdir(mode=0o700)
    os.symlink(open_to_all, os.path.join(linked, "pinfold"))
    run = pinfold("run", "--slots", f"1:{fresh()}", *payload, "exit", "0", env={"XDG_RUNTIME_DIR": linked})
    is_(run.status, "refused", "so is a link in its place", run)
else:
    skip("needs an ordinary user", "folders that will not do")
done()
