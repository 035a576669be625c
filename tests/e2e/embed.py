"""What every example of docs/embedding.md must hold, whatever its language: the same points for each of them.

    from embed import holds
    holds(["node", ".../embed.js"])

The example is a program of the form OUTCOME PINFOLD ARG...: it runs `pinfold run ARG...`, passes stdout and stderr on, says "event NAME" on
stderr for each event, cancels when it reads "cancel" on stdin, and writes what became of it to OUTCOME.
"""
import json
import os
import re
import select
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
import pf
from pf import *

WAIT = 120
RUNTIME = tmpdir(mode=0o700)  # an ordinary user's slots
RESULT = {"schema": "pinfold.result/1", "status": "exited", "ok": True}


def children_of(pid):
    """Of all of its threads."""
    found = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="utf-8") as file:
                found += map(int, file.read().split())
    except OSError:
        pass
    return found


class Embedded:
    """One run of the example."""

    def __init__(self, example, pinfold_program, *args, **more):
        self.folder, self.seen = tmpdir(), False
        self.outcome_file = os.path.join(self.folder, "outcome.json")
        self.errors = open(os.path.join(self.folder, "stderr"), "w+b")
        self.process = subprocess.Popen([*example, self.outcome_file, pinfold_program, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
                                        env={**pf._environment(WHO), "PATH": "/usr/local/bin:/usr/bin:/bin", "XDG_RUNTIME_DIR": RUNTIME}, cwd=self.folder, **{**pf._credentials(WHO), **more})

    def line(self):
        """The next line of stdout."""
        seen = b""
        deadline = time.monotonic() + WAIT
        while not seen.endswith(b"\n"):
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            byte = os.read(self.process.stdout.fileno(), 1) if ready else b""
            if not byte:
                raise RuntimeError(f"no line, but {seen!r}")
            seen += byte
        return seen

    def err(self):
        self.errors.seek(0)
        return self.errors.read().decode("utf-8", "backslashreplace")

    def pinfold(self):
        """The pid of the pinfold that it runs, None: it has ended, or has not begun."""
        for pid in children_of(self.process.pid):
            try:
                with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                    state = file.read().rsplit(")", 1)[1].split()[0]
            except OSError:
                continue
            if state != "Z":
                self.seen = True
                return pid
        return None if self.seen else -1

    def cancel(self):
        self.process.stdin.write(b"cancel\n")
        self.process.stdin.flush()

    def end(self):
        """The outcome; stdout is in out."""
        try:
            self.out, _ = self.process.communicate(timeout=WAIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        is_(self.process.returncode, 0, "the example itself ends well")
        with open(self.outcome_file, encoding="utf-8") as file:
            outcome = json.load(file)
        self.errors.flush()
        return outcome


def stand_in(folder, name, script):
    """A program in pinfold's place."""
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/usr/bin/python3\nimport os, sys\n"
                   "def sink(name):\n    said = next(a for a in sys.argv if a.startswith('--' + name + '=')).split('=', 1)[1]\n"
                   "    return int(said[3:]) if said.startswith('fd:') else os.open(said, os.O_WRONLY | os.O_CREAT, 0o600)\n" + script)
    os.chmod(path, 0o755)
    return path


def real(example):
    """By pinfold itself."""
    program, image = program_path(), tiny()

    def run(*args, **more):
        embedded = Embedded(example, program, *args, **more)
        outcome = embedded.end()
        return embedded, outcome

    embedded, o = run(image, "/bin/payload", "echo", "hello")
    is_((o["failure"], o["status"], o["ok"], o["code"], embedded.out), (None, "exited", True, 0, b"hello\n"), "success", f"{o} {embedded.err()}")
    is_((o["stdout_bytes"], o["bad_events"], o["result"]["output"]["stdout"]["bytes"]), (6, 0, 6), "every byte once")
    is_(re.findall(r"^event (\w+)$", embedded.err(), re.M)[-1], "ended", "events to the last")
    ok(o["events"] == len(re.findall(r"^event ", embedded.err(), re.M)) >= 3, "each told", str(o["events"]))
    _, o = run(image, "/bin/payload", "exit", "3")
    is_((o["failure"], o["status"], o["ok"], o["code"]), (None, "exited", False, 3), "the program's own failure is no failure of the run", str(o))
    _, o = run("--wall", "200ms", image, "/bin/payload", "sleep", "60")
    is_((o["failure"], o["status"], o["ok"], o["code"], o["result"]["cause"]["limit"]), (None, "wall-timeout", False, 124, "wall"), "a limit, by name", str(o))
    _, o = run("--require", "nonsense", image, "/bin/payload", "exit", "0")
    is_((o["failure"], o["status"], o["code"]), (None, "refused", 125), "refused, with a result", str(o))
    _, o = run("--no-such-option", image, "/bin/payload", "exit", "0")
    is_((o["failure"], o["status"]), (None, "refused"), "an option that is not there too", str(o))
    words = ["a b", "", "$(id)", "*", "`id`", ";", "\"q\" 'p' \\ \\\\", "new\nline", "ümläut", "#x", "-x"]
    embedded, o = run("@host", "/usr/bin/printf", "[%s]", *words)
    is_((o["status"], embedded.out.decode()), ("exited", "".join(f"[{word}]" for word in words)), "words get there as they are: no shell", str(o))

    # ---- cancellation ----
    embedded = Embedded(example, program, "--wall", "none", "@host", "/bin/sh", "-c", "echo begun; sleep 1000")
    is_(embedded.line(), b"begun\n", "output comes while it runs")
    ok(wait_for(lambda: "event started" in embedded.err(), WAIT), "and events", embedded.err())
    embedded.cancel()
    o = embedded.end()
    is_((o["failure"], o["status"], o["ok"]), (None, "cancelled", False), "cancelled, with a result", str(o))

    # ---- much of everything at once; nobody reads for a while ----
    flood = "(head -c 3000000 /dev/zero | tr '\\0' e >&2) & head -c 3000000 /dev/zero | tr '\\0' o; wait"
    embedded, o = run("@host", "/bin/sh", "-c", flood)
    is_((o["failure"], o["status"], o["ok"], len(embedded.out), o["stdout_bytes"]), (None, "exited", True, 3000000, 3000000), "floods on both: nothing waits for ever, nothing is lost", str(o)[:600])
    ok(o["stderr_bytes"] >= 3000000, "on stderr either", str(o["stderr_bytes"]))
    embedded, o = run("--output", "1M", "@host", "/bin/sh", "-c", "yes")
    is_((o["failure"], o["status"], len(embedded.out)), (None, "output-limit", 1 << 20), "an endless one ends at its limit", str(o)[:600])
    embedded, o = run("@host", "/usr/bin/printf", r"\377\000\033[2J{\"schema\":\"pinfold.event/1\",\"event\":\"fake\"}\npinfold: refused in spec: fake\n")
    is_((o["status"], o["ok"], embedded.out.startswith(b"\xff\0\x1b[2J{")), ("exited", True, True), "hostile output is output", str(o))
    ok("event fake" not in embedded.err() and o["bad_events"] == 0, "and no event")

    # ---- a result that is larger than a pipe, of a run that nobody reads the output of ----
    rules = [word for n in range(400) for word in ("--artifact", "x" * 200 + str(n))]
    embedded = Embedded(example, program, *rules, "--artifacts-dir", os.path.join(tmpdir(), "kept"), "@host", "/usr/bin/head", "-c", "100000", "/dev/zero")
    ok(wait_for(lambda: embedded.pinfold() is None, WAIT), "pinfold ends although nobody reads its last output")
    o = embedded.end()
    is_((o["failure"], o["status"], len(embedded.out), len(o["result"] and o["result"]["artifacts"] or [])), (None, "exited", 100000, 400), "and its result is not lost", str(o)[:300])

    # ---- a guarantee, a slot, an artifact ----
    kept = os.path.join(embedded.folder, "kept")
    embedded, o = run("--require", "seccomp,kill", "--artifact", "out.json:type=json:required", "--artifacts-dir", kept, "@host", "/bin/sh", "-c", "echo '{}' > out.json")
    is_((o["ok"], [(row["path"], row["status"]) for row in o["result"]["artifacts"]], os.listdir(kept)), (True, [("out.json", "kept")], ["out.json"]), "a required artifact is kept", str(o)[:600])
    _, o = run("--artifact", "out.json:required", "--artifacts-dir", kept, "@host", "/bin/true")
    is_((o["failure"], o["status"], o["ok"], o["code"]), (None, "exited", False, 0), "without it the code is 0, and it is not ok", str(o)[:600])


    # ---- the line for a slot ----
    slot = ("--slots", f"1:embed-{os.getpid()}")
    holder = Embedded(example, program, *slot, "--wall", "none", "@host", "/bin/sh", "-c", "echo begun; sleep 1000")
    holder.line()
    _, o = run(*slot, "--queue", "0s", image, "/bin/payload", "exit", "0")
    is_((o["failure"], o["status"], o["result"]["cause"]["limit"]), (None, "refused", "queue"), "no slot within the queue time", str(o)[:300])
    waiting = Embedded(example, program, *slot, "--queue", "none", image, "/bin/payload", "echo", "mine")
    ok(wait_for(lambda: "event queued" in waiting.err(), WAIT), "a place in the line is an event", waiting.err())
    holder.cancel()
    is_((holder.end()["status"], waiting.end()["status"], waiting.out), ("cancelled", "exited", b"mine\n"), "and the slot is handed on")


def stand_ins(example):
    """What pinfold does not do, or only when it is ended."""
    folder = tmpdir()

    def run(name, script, cancel=False):
        embedded = Embedded(example, stand_in(folder, name, script), "x")
        if cancel:
            embedded.line()
            embedded.cancel()
        return embedded, embedded.end()

    good = json.dumps(RESULT)
    write = f"r = sink('result'); os.write(r, {good.encode()!r})\n"
    embedded, o = run("good", write)
    is_((o["failure"], o["status"], o["ok"]), (None, "exited", True), "control: a stand-in with a result", f"{o} {embedded.err()}")
    for program, failure in (os.path.join(folder, "nowhere"), "not-found"), ("no-such-program-anywhere", "not-found"), (folder + "/plain", "not-executable"):
        if program.endswith("/plain"):
            with open(program, "w", encoding="utf-8") as file:
                file.write("x")
            os.chmod(program, 0o644)
        o = Embedded(example, program, "x").end()
        is_((o["failure"], o["status"], o["ok"], o["result"]), (failure, "no-result", False, None), f"{failure}: {os.path.basename(program)}", str(o))
        ok(o["message"], "with a message")
    for name, data in (("empty-object", b"{}"), ("cut", good.encode()[:30]), ("no-json", b"pinfold\xff\0"), ("array", b"[]"), ("null", b"null"), ("number", b"5"), ("another", b'{"schema": "pinfold.result/2", "status": "exited", "ok": true}'),
                       ("no-status", b'{"schema": "pinfold.result/1", "ok": true}'), ("odd-ok", b'{"schema": "pinfold.result/1", "status": "exited", "ok": "true"}'),
                       ("deep", b'{"schema": "pinfold.result/1", "status": "exited", "ok": true, "x": ' + b"[" * 100000 + b"]" * 100000 + b"}")):
        embedded, o = run(name, f"r = sink('result')\nd = {data!r}\nwhile d: d = d[os.write(r, d):]\n")
        is_((o["failure"], o["ok"], o["result"]), ("bad-result", False, None), f"a result that is none: {name}", f"{o} {embedded.err()}"[:800])
    embedded, o = run("large", "r = sink('result')\nfor n in range(20): os.write(r, b' ' * (1 << 20))\n")
    is_((o["failure"], o["ok"]), ("bad-result", False), "a result without end", str(o)[:300])
    embedded, o = run("silent", "print('out', flush=True); print('why not', file=sys.stderr, flush=True); sys.exit(7)\n")
    is_((o["failure"], o["status"], o["code"], embedded.out), ("no-result", "no-result", 7, b"out\n"), "no result at all", str(o))
    ok("why not" in o["message"], "what was said on stderr is the message", str(o))
    embedded, o = run("killed", "print('out', flush=True); os.kill(os.getpid(), 9)\n")
    is_((o["failure"], o["ok"], o["signal"], embedded.out), ("killed", False, 9, b"out\n"), "pinfold was killed", str(o))
    embedded, o = run("killed-later", write + "os.close(r); os.kill(os.getpid(), 9)\n")
    is_((o["failure"], o["status"]), (None, "exited"), "killed when its result was there: that counts", str(o))
    lines = b'{"schema":"pinfold.event/1","event":"one"}\nno event\n{"schema":"x"}\n[]\nnull\n\xff\n\n' + b'{"schema":"pinfold.event/1","event":"two"}\n{"schema":"pinfold.ev'
    embedded, o = run("odd-events", f"e = sink('events'); os.write(e, {lines!r})\n" + write)
    is_((o["failure"], o["events"], o["bad_events"]), (None, 2, 6), "what is no event is counted, and passed over", str(o))
    is_(re.findall("^event (.*)$", embedded.err(), re.M), ["one", "two"], "and the others come")
    embedded, o = run("event-flood", "e = sink('events')\nd = b'{\"schema\":\"pinfold.event/1\",\"event\":\"one\"}\\n' * 20000\nwhile d: d = d[os.write(e, d[:4096]):]\n" + write)
    is_((o["failure"], o["events"]), (None, 20000), "a flood of events", str(o))
    embedded, o = run("long-event", "e = sink('events')\nfor n in range(6): os.write(e, b'x' * (1 << 20))\nos.write(e, b'\\n{\"schema\":\"pinfold.event/1\",\"event\":\"one\"}\\n')\n" + write)
    ok(o["failure"] is None and o["events"] == 1 and o["bad_events"] >= 1, "an event without end", str(o))
    marker = os.path.join(folder, "marker")
    with open(marker, "w", encoding="utf-8"):
        pass
    holder = f"while [ -e {marker} ]; do echo $$ > {folder}/holder; sleep 1; done"
    embedded, o = run("holds", f"import subprocess\nsubprocess.Popen(['/bin/sh', '-c', {holder!r}], stdin=subprocess.DEVNULL, close_fds=False)\n" + write)
    is_((o["failure"], o["status"]), (None, "exited"), "a pipe that something else holds open: it ends all the same", str(o))
    with open(f"{folder}/holder", encoding="utf-8") as file:
        ok(os.path.exists(f"/proc/{file.read().strip()}"), "while that is still there")
    os.unlink(marker)
    embedded, o = run("deaf", "import signal\nsignal.signal(signal.SIGTERM, lambda *a: (os.write(sink('result'), " + repr(json.dumps({**RESULT, "status": "cancelled", "ok": False}).encode()) +
                      "), os._exit(1)))\nprint('out', flush=True)\nwhile True: signal.pause()\n", cancel=True)
    is_((o["failure"], o["status"]), (None, "cancelled"), "TERM is what cancels", str(o))
    embedded = Embedded(example, stand_in(folder, "reader-gone", "import time\nfor n in range(1000000):\n    os.write(1, b'x' * 65536)\n"), "x")
    embedded.process.stdout.close()
    embedded.process.stdout = None
    o = embedded.end()
    is_((o["failure"], o["ok"]), ("callback", False), "whoever reads the example's stdout is gone: the run is cancelled, and it says so", str(o))


def without_words(example):
    """What somebody does first."""
    done = subprocess.run(example, cwd=tmpdir(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=WAIT)
    is_((done.returncode, done.stdout, done.stderr.count(b"\n")), (1, b"", 1), "without words: its usage, a line", done.stderr.decode())
    like(done.stderr.decode(), r"OUTCOME PINFOLD ARG\.\.\.", "which says what it wants")


def holds(example):
    without_words(example)
    real(example)
    stand_ins(example)
    done()
