"""What the attack tests share: a hostile image, each row run weak and strong, the host compared.

A row proves something only if it reaches what it attacks where nothing is in its way: the control. So every row
runs twice, unconfined (weak: as root, on a writable copy of the image, in mount, UTS and IPC namespaces
of its own so that nothing stays) and inside (strong).
"""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
import pf
from host import Snapshot, processes
from tap import diag, is_, ok, skip

__all__ = ["PROBE", "OWNER", "probe_image", "weak", "strong", "attack", "unharmed", "do", "mark_flags", "SINGLE",
           "allow_all", "program_of"]

PROBE = os.path.join(pf.ROOT, "build/tests/attack/probe")
AS_ROOT = os.geteuid() == 0
# An ordinary user's default: its one id is mapped, no helper.
SINGLE = pf.WHO == "user"
# Who owns the image: the program itself, so that no mode stands in its way. Root's slots map 1000 of the image's
# file system to the program's 1000.
OWNER = (pf.account("user").pw_uid, pf.account("user").pw_gid) if pf.WHO == "user" and AS_ROOT else \
    (1000, 1000) if AS_ROOT else (os.getuid(), os.getgid())

# version 2, effective bit, permitted cap_net_raw|cap_setuid|cap_sys_admin (capability.h: struct vfs_cap_data)
_FILE_CAPABILITY = bytes.fromhex("0100000280202000" + "00" * 12)

# Settings of the host that no run may change, by their place in /proc/sys.
_SETTINGS = ("kernel/core_pattern", "kernel/modprobe", "kernel/poweroff_cmd", "kernel/hostname", "kernel/domainname",
             "kernel/randomize_va_space", "kernel/panic", "kernel/sysrq", "kernel/pid_max", "vm/overcommit_memory",
             "vm/nr_hugepages", "fs/file-max", "net/ipv4/ip_forward", "user/max_user_namespaces",
             "user/max_mnt_namespaces", "user/max_inotify_instances", "kernel/keys/maxkeys", "kernel/cap_last_cap")


def allow_all():
    """A profile file that switches the filter off."""
    path = os.path.join(pf.tmpdir(), "allow-all.json")
    with open(path, "w", encoding="ascii") as file:
        file.write('{"defaultAction": "SCMP_ACT_ALLOW"}')
    return path


def program_of(mark):
    """Host pid of the program (inner pid 2) of the run that mark_flags() marked, or None."""
    for pid in processes(mark):
        try:
            with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
                ids = next((line.split()[1:] for line in file if line.startswith("NSpid:")), [])
            if len(ids) > 1 and ids[-1] == "2" and os.readlink(f"/proc/{pid}/exe").endswith("/probe"):
                return pid
        except OSError:
            continue
    return None


def _own(tree, owner):
    for place, names, files in os.walk(tree):
        for name in [".", *names, *files]:
            os.chown(os.path.join(place, name), *owner, follow_symlinks=False)


def probe_image(extra=None, targets=False):
    """A tree with the probe and things to attack. targets: every mount target is there, so that the image is
    bound; else a skeleton is laid over it."""
    files = {
        "bin/probe": ("copy", PROBE), "bin/probe-setuid": ("copy", PROBE), "bin/probe-setgid": ("copy", PROBE),
        "bin/probe-capable": ("copy", PROBE), "etc/passwd": b"root:x:0:0::/:/bin/sh\n", "usr": ("dir", 0o755),
        "data/dir": ("dir", 0o755), "work": ("dir", 0o777), "dev": ("dir", 0o755),
    }
    files |= {f"data/{name}": b"content\n" for name in ("file", "other", "movable", "swap", "swapped", "flags")}
    if targets:
        files |= {name: ("dir", 0o755) for name in ("proc", "sys", "tmp", "run", "scratch")}
        files |= {f"etc/{name}": b"image's\n" for name in ("group", "hosts", "resolv.conf", "hostname")}
    tree = pf.image(files | (extra or {}))
    _own(tree, OWNER)
    if AS_ROOT:
        for name, mode in (("setuid", 0o4755), ("setgid", 0o2755), ("capable", 0o755)):
            path = os.path.join(tree, "bin/probe-" + name)
            os.chown(path, 0, 0)
            os.chmod(path, mode)
        os.setxattr(os.path.join(tree, "bin/probe-capable"), "security.capability", _FILE_CAPABILITY)
        os.mknod(os.path.join(tree, "data/full"), 0o20666, os.makedev(1, 7))
        os.chmod(os.path.join(tree, "data/full"), 0o666)
    return tree


def _outcomes(text):
    """{id: (outcome, errno)} of what the probe printed."""
    rows = [line.split() for line in text.decode("utf-8", "replace").splitlines()]
    return {row[0]: (row[1], row[2]) for row in rows if len(row) == 3}


def weak(tree, ids, env=None, **popen):
    """The rows unconfined, on a copy of tree."""
    copy = tempfile.mkdtemp(dir=pf.tmpdir("root" if AS_ROOT else "user"))
    subprocess.run(["cp", "-aT", tree, copy], check=True)
    os.chmod(copy, 0o755)
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | popen
    done = subprocess.run([PROBE, "--base", copy, *ids], env={**os.environ, **(env or {})}, check=False, timeout=60, **options)
    if done.stderr:
        diag(done.stderr[-2000:])
    shutil.rmtree(copy, ignore_errors=True)
    return _outcomes(done.stdout or b"")


_runs = 0


def mark_flags():
    """(mark, flags): what makes every process of a run findable."""
    global _runs
    _runs += 1
    mark = f"attack-{os.getpid()}-{_runs}"
    return mark, ["--id", mark, "--env", f"PROBE_MARK={mark}"]


def strong(tree, ids, flags=(), env=None, **options):
    """(outcomes, Run) of the rows inside."""
    _, marked = mark_flags()
    words = [f"--env={name}={value}" for name, value in (env or {}).items()]
    run = pf.pinfold("run", *marked, *flags, *words, tree, "/bin/probe", *ids, **options)
    return _outcomes(run.out), run


def do(tree, *words, flags=(), **options):
    """Run of a verb inside."""
    _, marked = mark_flags()
    return pf.pinfold("run", *marked, *flags, tree, "/bin/probe", "do", *words, **options)


def _settings():
    return {name: open("/proc/sys/" + name, "rb").read() for name in _SETTINGS if os.path.exists("/proc/sys/" + name)}


class unharmed:
    """Around anything hostile: the host is as it was, and nothing of ours is left."""

    def __init__(self, what, *folders):
        self.what, self.folders = what, folders

    def __enter__(self):
        self.before, self.settings = Snapshot(*self.folders), _settings()
        return self

    def __exit__(self, kind, value, trace):
        if kind:
            return
        # Leaves of other runs on this machine come and go, and so does what measures them.
        own = f"pinfold-attack-{os.getpid()}-"
        changed = [line for line in self.before.differences()
                   if not line.startswith("cgroups:") and " pinfold-bench." not in line or own in line]
        # The folder of root's id slots stays: it is the host's, made by the first run of all.
        changed = [line for line in changed if line != "/run: + pinfold"]
        # Somebody makes a root filesystem meanwhile.
        changed = [line for line in changed if "/mmdebstrap." not in line]
        changed += [f"/proc/sys/{n}" for n, was in self.settings.items() if _settings().get(n) != was]
        changed += [f"process {pid}" for pid in processes(f"attack-{os.getpid()}-")]
        is_(changed, [], f"{self.what}: the host is as it was")


def _allowed(want):
    return want.split("|")


def judge(title, controls, outcomes, table, why):
    """A point for each row of table: {id: errnos that may stop it inside, with "|" between}."""
    for row, want in table.items():
        control, outcome = controls.get(row), outcomes.get(row)
        name = f"{title}{row}"
        if control is not None and control[0] != "reached" and not AS_ROOT:
            skip("needs root: the control is not allowed here", name)
            continue
        fine = outcome is not None and outcome[0] == "blocked" and outcome[1] in _allowed(want)
        reached = control is None or control[0] == "reached"
        ok(fine and reached, f"{name}: reached unconfined, {want} inside",
           f"unconfined: {control}, inside: {outcome}, want: {want}\n{'' if outcome else why}")


def attack(table, tree=None, flags=(), env=None, lacking=(), title="", controls=None):
    """Every row of table, weak and strong. lacking: rows whose object this host need not have: where the control finds
    nothing, the row must be blocked inside all the same, and that is said."""
    tree = tree or probe_image()
    ids = list(table)
    if controls is None:
        controls = weak(tree, ids, env)
    with unharmed(f"{title}{ids[0].split('.')[0]}", tree):
        outcomes, run = strong(tree, ids, flags, env)
    for row in lacking:
        if controls.get(row, ("", ""))[0] != "reached":
            diag(f"{row}: this host has nothing to attack there ({' '.join(controls.get(row, ()))})")
            controls[row] = None
    is_(run.status, "exited", f"{title}the program lived through it", run)
    judge(title, controls, outcomes, table, run)
    return outcomes, run
