"""The host's side of a test: what is there before and after, and canaries that must stay unharmed."""
import contextlib
import hashlib
import os
import signal
import socket
import stat
import threading
import time

import pf


def _read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def stop(pid):
    """SIGSTOP, and wait until it does stand still: what happens after this it sees in one piece."""
    os.kill(pid, signal.SIGSTOP)
    pf.wait_for(lambda: _read(f"/proc/{pid}/stat").rsplit(b")", 1)[1].split()[0] == b"T", what=f"that {pid} stands still")


def processes(mark):
    """pids whose command line or environment holds mark, this process and its ancestors left out. Give the
    mark as --id (supervisor and pid 1 show it in their command line) and in --env (the program)."""
    mark, found, own = mark.encode(), [], _ancestors()
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) not in own:
            if mark in _read(f"/proc/{name}/cmdline") or mark in _read(f"/proc/{name}/environ"):
                found.append(int(name))
    return found


def _ancestors():
    pids, pid = set(), os.getpid()
    while pid > 0:
        pids.add(pid)
        status = _read(f"/proc/{pid}/stat")
        pid = int(status.rsplit(b")", 1)[1].split()[1]) if status else 0
    return pids


def broker_of(mark):
    """pids of the egress broker's dialer, parser and resolver, in this order, of the run whose --id is mark; as many as are there."""
    parents, called = {}, {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        stat = _read(f"/proc/{name}/stat")
        if stat:
            called[int(name)] = stat[stat.index(b"(") + 1:stat.rindex(b")")]
            parents[int(name)] = int(stat.rsplit(b")", 1)[1].split()[1])
    runs = [pid for pid in processes(mark) if b"\0run\0" in _read(f"/proc/{pid}/cmdline")]
    dialers = [pid for pid in called if parents[pid] in runs and called[pid] == b"egress-dialer"]
    return dialers + [pid for what in (b"egress-parser", b"egress-resolver") for pid in called
                      if parents[pid] in dialers and called[pid] == what]


def init_of(mark):
    """Host pid of pid 1 of the sandbox whose --id is mark, or None."""
    for pid in processes(mark):
        for line in _read(f"/proc/{pid}/status").splitlines():
            if line.startswith(b"NSpid:") and len(line.split()) > 2 and line.split()[-1] == b"1":
                return pid
    return None


def mounts():
    """The lines of mountinfo, without the ids that change by themselves."""
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        return sorted(" ".join(line.split()[2:]) for line in file)


def cgroups(state=b"populated 0"):
    """Every empty cgroup v2 directory of ours, as a path below its mount. One with processes (b"populated 1") is
    somebody's living run, or one that is dying: a process leaves its cgroup after it lost all that tells whose it is."""
    found = []
    for line in mounts():
        left, right = line.split(" - ")
        if right.split()[0] != "cgroup2":
            continue
        top = left.split()[2]
        for folder, names, _ in os.walk(top):
            for name in names:
                path = os.path.join(folder, name)
                if name.startswith("pinfold-") and state in _read(os.path.join(path, "cgroup.events")):
                    found.append(os.path.relpath(path, top))
    return sorted(found)


def tree(folder):
    """{path: (type and mode, uid, gid, size, mtime, digest or target)} of everything below folder."""
    entries = {}
    for place, names, files in os.walk(folder):
        for name in [".", *names, *files] if place == folder else [*names, *files]:
            path = os.path.join(place, name)
            info = os.lstat(path)
            content = None
            if stat.S_ISREG(info.st_mode):
                content = hashlib.sha256(_read(path)).hexdigest()
            elif stat.S_ISLNK(info.st_mode):
                content = os.readlink(path)
            size = 0 if stat.S_ISDIR(info.st_mode) else info.st_size
            entries[os.path.relpath(path, folder)] = (oct(info.st_mode), info.st_uid, info.st_gid, size,
                                                      info.st_mtime_ns, content)
    return entries


def leftovers(mark):
    """What is left of the runs whose --id begins with mark, with mark in the program's environment too: a list of
    texts. Mounts are told by the folder that holds all of this test's files. Other tests may run meanwhile."""
    found = [f"process {pid}: {_read(f'/proc/{pid}/cmdline').strip(bytes(1))[:80]!r}" for pid in processes(mark)]
    found += [f"socket {line.split()[-1].decode()}" for line in _read("/proc/net/unix").splitlines()[1:]
              if mark.encode() in line]
    found += [f"cgroup {path}" for path in cgroups() if mark in path]
    found += [f"processes in cgroup {path}" for path in cgroups(b"populated 1") if mark in path]
    found += [f"mount {line}" for line in mounts() if pf.base_folder() in line]
    return found


def fill(stack, name):
    """Connect to an abstract name until its queue is full; the connections are the ExitStack's to close."""
    while True:
        client = stack.enter_context(socket.socket(socket.AF_UNIX))
        client.setblocking(False)
        try:
            client.connect(name)
        except BlockingIOError:
            return


class Snapshot:
    """Mounts, empty cgroup leaves, IPC objects, names in /tmp, /dev/shm and /run, and the given folders in full.

    Other tests and other people's programs share the host: what comes and goes by itself within a
    minute is theirs, and what somebody else removed is no leak of ours."""

    PATIENCE = 60
    OWN = ("pinfold-test.", "pinfold-unit-")  # folders of the tests themselves

    def __init__(self, *folders):
        self.folders = folders
        self.state = self._take()

    def _take(self):
        state = {"mounts": mounts(), "cgroups": cgroups()}
        for name in ("shm", "sem", "msg"):
            lines = _read(f"/proc/sysvipc/{name}").decode().splitlines()[1:]
            state[f"SysV {name}"] = sorted(" ".join(line.split()[:2]) for line in lines)
        for folder in ("/tmp", "/var/tmp", "/dev/shm", "/run"):
            state[folder] = sorted(n for n in os.listdir(folder) if "pinfold" in n and not n.startswith(self.OWN))
        for folder in self.folders:
            state[f"tree {folder}"] = sorted(map(str, tree(folder).items()))
        return state

    def _compare(self):
        after, lines = self._take(), []
        for kind, before in self.state.items():
            lines += [f"{kind}: + {line}" for line in after[kind] if line not in before]
            if kind == "mounts" or kind.startswith("tree "):
                lines += [f"{kind}: - {line}" for line in before if line not in after[kind]]
        return lines

    def differences(self):
        """Lines that say what came and what went since; empty when nothing did."""
        deadline = time.monotonic() + self.PATIENCE
        lines = self._compare()
        while lines and time.monotonic() < deadline:
            time.sleep(0.1)
            lines = [line for line in self._compare() if line in lines]
        return lines


def open_fds(pid):
    """{fd: target} of a process."""
    folder, found = f"/proc/{pid}/fd", {}
    for name in os.listdir(folder):
        with contextlib.suppress(OSError):
            found[int(name)] = os.readlink(os.path.join(folder, name))
    return found


@contextlib.contextmanager
def canary_folder(user=None):
    """A host folder with a secret that nobody may read or change; yields (folder, secret)."""
    folder = pf.tmpdir(user)
    secret = "canary-" + os.urandom(12).hex()
    with open(os.path.join(folder, "secret"), "w", encoding="ascii") as file:
        file.write(secret)
    before = tree(folder)
    yield folder, secret
    pf.is_(tree(folder), before, "the host's canary folder is as it was")


@contextlib.contextmanager
def canary_listener(family=socket.AF_INET, address=("127.0.0.1", 0)):
    """A listener on the host; yields (address, hits), hits growing with every connection that comes. An
    abstract socket is address="\\0name" with AF_UNIX."""
    hits = []
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.bind(address)
        listener.listen(16)
        listener.settimeout(0.1)
        stop = threading.Event()

        def accept():
            while not stop.is_set():
                with contextlib.suppress(TimeoutError):
                    peer, name = listener.accept()
                    hits.append(name)
                    peer.close()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield listener.getsockname(), hits
        stop.set()
        thread.join()
