"""Run pinfold in tests, as root or as an ordinary user, and read what it says.

    import os, sys
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
    from pf import *

    run = pinfold("run", tiny(), "/bin/payload", "exit", "7")
    is_(run.code, 7, "the program's exit code comes through")
    is_(run.status, "exited", "...")
    done()

PINFOLD_TEST_USER ("root", "user") says as whom; root is the default of root, an ordinary user
is always "user". PINFOLD_BUILD names another build folder. A result document is asked for with
every `run`, and always validated. What a test makes is removed when it ends, also by TERM.
"""
import atexit
import json
import os
import pwd
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from tap import diag, done, is_, like, ok, skip, skip_all, unlike, within

__all__ = ["diag", "done", "is_", "like", "ok", "skip", "skip_all", "unlike", "within",
           "ROOT", "BUILD", "WHO", "TEST_ACCOUNT", "Run", "Running", "pinfold", "start", "staged", "program_path",
           "payload_path", "tmpdir", "image", "tiny", "busybox_image", "rootfs", "controllers", "wait_for",
           "load_schema"]

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../.."))
BUILD = os.path.join(ROOT, os.environ.get("PINFOLD_BUILD", "build"))
TEST_ACCOUNT = "pinfold-test"
WHO = os.environ.get("PINFOLD_TEST_USER") or ("root" if os.geteuid() == 0 else "user")
if WHO not in ("root", "user") or (WHO == "root" and os.geteuid() != 0):
    sys.exit(f"PINFOLD_TEST_USER={WHO}: it is root or user, and root only for root")

# A folder that every user may enter holds all that a test makes.
_base = None


def _cleanup():
    if _base:
        # Folders without permissions are part of some tests.
        subprocess.run(["chmod", "-R", "u+rwX", _base], stderr=subprocess.DEVNULL, check=False)
        shutil.rmtree(_base, ignore_errors=True)


def base_folder():
    """The folder that every user may enter and that holds all that a test makes."""
    global _base
    if _base is None:
        _base = tempfile.mkdtemp(prefix="pinfold-test.", dir="/var/tmp")
        os.chmod(_base, 0o755)
    return _base


atexit.register(_cleanup)
# atexit does not run for a signal that kills; SystemExit does it.
signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
# A shell's background job ignores these, and what it starts inherits that: a signal that a test sends
# to a pinfold which has not got to its own mask yet would be lost.
for _number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, lambda number, frame: sys.exit(128 + number))


# ---- who runs it ----

def account(user):
    """passwd entry of the ordinary user, or None where that is whoever runs the test."""
    if user == "root" or os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam(TEST_ACCOUNT)
    except KeyError:
        sys.exit(f"no account {TEST_ACCOUNT}: scripts/check makes it (scripts/test-account)")


def _environment(user):
    """What pinfold itself gets: as little as a login gives."""
    keep = ("PATH", "LANG", "TERM", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS")
    env = {name: os.environ[name] for name in keep if name in os.environ}
    env.setdefault("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
    entry = account(user)
    if entry:
        env.update(HOME=entry.pw_dir, USER=entry.pw_name, LOGNAME=entry.pw_name)
    else:
        for name in ("HOME", "USER", "LOGNAME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"):
            if name in os.environ:
                env[name] = os.environ[name]
    return env


def _credentials(user):
    entry = account(user)
    if not entry:
        return {}
    groups = os.getgrouplist(entry.pw_name, entry.pw_gid)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": groups}


def tmpdir(user=None, mode=0o755):
    """A fresh folder that belongs to the user."""
    folder = tempfile.mkdtemp(dir=base_folder())
    os.chmod(folder, mode)
    entry = account(user or WHO)
    if entry:
        os.chown(folder, entry.pw_uid, entry.pw_gid)
    return folder


# ---- staging: the checkout may lie where an ordinary user cannot come ----

_staged = {}
_reach = None


def _reachable():
    """Whether the ordinary user can enter the checkout."""
    global _reach
    if _reach is None:
        _reach = subprocess.run(["/usr/bin/test", "-x", ROOT], check=False, **_credentials("user")).returncode == 0
    return _reach


def staged(path, user=None):
    """path of a file or tree that the user can reach: itself, or a root-owned copy (hard links if possible)."""
    if account(user or WHO) is None or not path.startswith(ROOT + "/") or _reachable():
        return path
    if path not in _staged:
        target = os.path.join(base_folder(), "stage", os.path.relpath(path, ROOT))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        for links in (["-l"], []):
            if subprocess.run(["cp", "-aT", *links, path, target], check=False,
                              stderr=subprocess.DEVNULL).returncode == 0:
                break
            shutil.rmtree(target, ignore_errors=True)
        else:
            raise RuntimeError(f"cannot stage {path}")
        _staged[path] = target
    return _staged[path]


def program_path(user=None):
    """The pinfold to run; its libexec folder comes along."""
    program = os.path.join(BUILD, "bin/pinfold")
    libexec = os.path.join(BUILD, "libexec")
    if os.path.isdir(libexec):
        staged(libexec, user)
    return staged(program, user)


def payload_path(user=None):
    return staged(os.path.join(ROOT, "build/tests/payload"), user)


def rootfs(name, user=None):
    """An unpacked root filesystem made by scripts/rootfs."""
    path = os.path.join(ROOT, "build/rootfs", name)
    if not os.path.isdir(path):
        raise RuntimeError(f"{path} is missing: run scripts/rootfs {name}")
    return staged(path, user)


# ---- running it ----

_schemas = {}


def load_schema(name):
    """A validator for docs/NAME.schema.json."""
    if name not in _schemas:
        import jsonschema  # slow to load, and not every test needs it
        with open(os.path.join(ROOT, "docs", f"{name}.schema.json"), encoding="utf-8") as file:
            schema = json.load(file)
        cls = jsonschema.validators.validator_for(schema)
        cls.check_schema(schema)
        _schemas[name] = cls(schema)
    return _schemas[name]


def _no_duplicates(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError(f"a key stands twice: {keys}")
    return dict(pairs)


def _no_constant(name):
    raise ValueError(f"{name} is not JSON")


def parse(text, schema):
    """JSON as strict as the standard, valid by docs/SCHEMA.schema.json."""
    document = json.loads(text.decode("utf-8"), object_pairs_hook=_no_duplicates, parse_constant=_no_constant)
    errors = [f"{'/'.join(map(str, e.path))}: {e.message}" for e in load_schema(schema).iter_errors(document)]
    if errors:
        raise ValueError(f"not valid by {schema}.schema.json: " + "; ".join(errors[:5]))
    return document


class Run:
    """What a finished pinfold left: code (negative: killed by that signal), out, err, result, events."""

    def __init__(self, args, code, out, err, seconds, result_file, events_file):
        self.args, self.code, self.out, self.err, self.seconds = args, code, out, err, seconds
        self.result, self.events = None, []
        if result_file and os.path.exists(result_file):
            with open(result_file, "rb") as file:
                self.result = parse(file.read(), "result")
        if events_file and os.path.exists(events_file):
            with open(events_file, "rb") as file:
                self.events = [parse(line, "event") for line in file]

    @property
    def status(self):
        return self.result["status"] if self.result else None

    @property
    def message(self):
        """cause.message, or what stderr says where there is no document."""
        return (self.result["cause"]["message"] or "") if self.result else self.err.decode("utf-8", "replace")

    @property
    def evidence(self):
        return self.result["cause"]["evidence"]

    def guarantee(self, name):
        """The row of the ledger, a dict."""
        return next(row for row in self.result["guarantees"] if row["name"] == name)

    def __str__(self):
        # The ledger is long, and seldom what a test failed of.
        brief = {k: v for k, v in self.result.items() if k != "guarantees"} if self.result else None
        return (f"{' '.join(map(str, self.args))}\ncode {self.code} after {self.seconds:.3f} s\n"
                f"stdout: {self.out[-800:]!r}\nstderr: {self.err[-1600:]!r}\n"
                f"result: {json.dumps(brief)}")


class Running:
    """A pinfold that runs; a context manager that never leaves it behind."""

    def __init__(self, args, process, result_file, events_file):
        self.args, self.process = args, process
        self.result_file, self.events_file = result_file, events_file
        self.begin = time.monotonic()
        self.pid = process.pid
        self.seen = b""

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream:
                stream.close()

    def signal(self, number):
        self.process.send_signal(number)

    def line(self, timeout=60):
        """The next line of stdout, as text without its newline; "" at its end. Run.out has it too."""
        begin, deadline = len(self.seen), time.monotonic() + timeout
        while not self.seen[begin:].endswith(b"\n"):
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError(f"no line within {timeout} s, but {self.seen[begin:]!r}")
            byte = os.read(self.process.stdout.fileno(), 1)  # no more: the rest is for communicate()
            if not byte:
                break
            self.seen += byte
        return self.seen[begin:].decode("utf-8", "replace").rstrip("\n")

    def wait(self, timeout=60, stdin=None):
        """A Run. A pinfold that outlives timeout is killed, and the test dies of TimeoutExpired."""
        try:
            out, err = self.process.communicate(stdin, timeout)
        except subprocess.TimeoutExpired as late:
            self.process.kill()
            out, err = self.process.communicate()
            diag(f"stdout: {out!r}\nstderr: {err!r}")
            raise late
        return Run(self.args, self.process.returncode, self.seen + (out or b""), err or b"", time.monotonic() - self.begin,
                   self.result_file, self.events_file)


def start(*args, user=None, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
          env=None, cwd="/", result=True, events=False, program=None, within=(), **popen):
    """Start pinfold and return a Running. For `run`, --result (and with events=True --events) is added
    after the subcommand; result=False leaves it out. env adds to a small environment; within is a
    command that starts it, as who runs the test; everything else goes to Popen."""
    user = user or WHO
    argv = [program or program_path(user), *map(os.fspath, map(_text, args))]
    result_file = events_file = None
    if args[:1] == ("run",):
        extra = []
        if result:
            result_file = os.path.join(tmpdir(user), "result.json")
            extra += ["--result", result_file]
        if events:
            events_file = os.path.join(tmpdir(user), "events.jsonl")
            extra += ["--events", events_file]
        argv[2:2] = extra
    credentials = _credentials(user)
    if within and credentials:
        argv = ["setpriv", f"--reuid={credentials['user']}", f"--regid={credentials['group']}",
                "--groups=" + ",".join(map(str, credentials["extra_groups"])), "--", *argv]
        credentials = {}
    process = subprocess.Popen([*within, *argv], stdin=stdin, stdout=stdout, stderr=stderr, cwd=cwd,
                               env={**_environment(user), **(env or {})}, **{**credentials, **popen})
    return Running(argv, process, result_file, events_file)


def _text(arg):
    return arg if isinstance(arg, (str, bytes, os.PathLike)) else str(arg)


def pinfold(*args, stdin=None, timeout=60, **options):
    """Run pinfold to its end and return a Run; stdin is bytes or an open file."""
    feed = stdin if isinstance(stdin, bytes) else None
    source = subprocess.PIPE if feed is not None else subprocess.DEVNULL if stdin is None else stdin
    with start(*args, stdin=source, **options) as running:
        return running.wait(timeout, feed)


# ---- images ----

def image(files, parent=None):
    """An unpacked tree from {path: content}: bytes (mode 0755 below bin, else 0644), ("copy", FILE),
    ("link", TARGET), ("dir", MODE), ("file", BYTES, MODE). Returns its path; root's, readable by all."""
    tree = parent or tempfile.mkdtemp(dir=base_folder())
    os.chmod(tree, 0o755)
    for path, content in files.items():
        target = os.path.join(tree, path.lstrip("/"))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        kind = content[0] if isinstance(content, tuple) else "file"
        if kind == "link":
            os.symlink(content[1], target)
        elif kind == "dir":
            os.makedirs(target, exist_ok=True)
            os.chmod(target, content[1])
        elif kind == "copy":
            shutil.copyfile(content[1], target)
            os.chmod(target, 0o755)
        else:
            data, mode = (content[1], content[2]) if isinstance(content, tuple) else \
                (content, 0o755 if "bin" in path.split("/") else 0o644)
            with open(target, "wb") as file:
                file.write(data)
            os.chmod(target, mode)
    return tree


_tiny = None


def tiny():
    """The smallest useful image: /bin/payload, made once a script."""
    global _tiny
    if _tiny is None:
        _tiny = image({"bin/payload": ("copy", os.path.join(ROOT, "build/tests/payload"))})
    return _tiny


_busybox = None


def busybox_image():
    """/bin/busybox with a link for every applet, and /bin/payload; made once a script."""
    global _busybox
    if _busybox is None:
        names = subprocess.run(["/bin/busybox", "--list"], check=True, stdout=subprocess.PIPE, text=True).stdout
        files = {f"bin/{name}": ("link", "busybox") for name in names.split() if name != "busybox"}
        files["bin/busybox"] = ("copy", "/bin/busybox")
        files["bin/payload"] = ("copy", os.path.join(ROOT, "build/tests/payload"))
        _busybox = image(files)
    return _busybox


# ---- the host ----

def controllers():
    """The cgroup v2 controllers of this host, a set; empty on a hybrid one that keeps them in v1."""
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        mounts = [line.split(" - ") for line in file]
    found = set()
    for left, right in mounts:
        if right.split()[0] == "cgroup2":
            with open(os.path.join(left.split()[4], "cgroup.controllers"), encoding="utf-8") as file:
                found |= set(file.read().split())
    return found & {"cpu", "memory", "pids", "io"}


def wait_for(condition, seconds=60, what="the condition"):
    """Poll until condition() is true and return what it gave; the test dies when it stays false. For things
    of other processes that no event tells of."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} did not come true within {seconds} s")
        time.sleep(0.005)
