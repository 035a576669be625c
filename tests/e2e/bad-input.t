#!/usr/bin/python3
"""Bad input gets a clear error and exit 125, nothing is started and nothing left: what was written is named, and where there
is a way out it is told."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from host import leftovers, tree
from pf import *

MARK = f"bad-{os.getpid()}"
folder = tmpdir()
plain = os.path.join(folder, "file")
with open(plain, "w", encoding="ascii") as file:
    file.write("x")
os.symlink("/", os.path.join(folder, "root"))
before = tree(folder)
payload = [tiny(), "/bin/payload"]
BAD = {
    "an unknown option": (["--memroy", "1M", *payload], r"unknown option '--memroy'; did you mean --memory\?"),
    "an option far from any": (["--xyzzy", *payload], r"unknown option '--xyzzy'; --help"),
    "one dash": (["-memory", "1M", *payload], r"unknown option '-memory'; did you mean --memory\?"),
    "a value that is missing": (["--memory"], r"--memory: a value is missing"),
    "a value that looks like an option": (["--memory", "--cpus", "1", *payload], r"--memory: a value is missing"),
    "a wrong unit": (["--memory", "64MB", *payload], r"--memory: '64MB' is not a size; write 64M"),
    "a wrong word": (["--priority", "high", *payload], r"--priority: .*normal"),
    "a wrong number of cpus": (["--cpus", "zero", *payload], r"--cpus: 'zero'"),
    "no image": ([], r"no image"),
    "no command": ([tiny()], r"no command"),
    "an empty image": ([""], r"image: the name is empty"),
    "a missing image": (["/nowhere/at/all", "x"], r"/nowhere/at/all: no such folder"),
    "a missing image beside us": (["./nothing", "x"], r"\./nothing: no such folder"),
    "an image of no name": (["nothing-of-the-kind", "x"], r"no stored image nothing-of-the-kind"),
    "an unknown special image": (["@guest", "x"], r"'@guest' is unknown; the one name with @ is @host"),
    "an image that is a file": ([plain, "x"], r"is not a folder"),
    "the host's root": (["/", "x"], r"/ is refused as an image: .*@host"),
    "the host's root by a link": ([os.path.join(folder, "root"), "x"], r"is refused as an image: .*root directory"),
    "the host's root with dots": (["/usr/..", "x"], r"is refused as an image"),
    "a home folder": (["/root", "x"], r"(is refused as an image: .*home|permission)"),
    "/etc": (["/etc", "x"], r"/etc is refused as an image"),
    "/proc": (["/proc", "x"], r"/proc is refused as an image"),
    "/proc/self/root": (["/proc/self/root", "x"], r"is refused as an image"),
    "/tmp": (["/tmp", "x"], r"/tmp is refused as an image"),
    "/var": (["/var", "x"], r"/var is refused as an image"),
    "a hostname with a slash": (["--hostname", "a/b", *payload], r"--hostname: 'a/b' is not a host name"),
    "a uid out of the map": (["--uid", "70000", *payload], r"--uid: "),
    "a missing cgroup parent": (["--cgroup-parent", "/nowhere", *payload], r"--cgroup-parent /nowhere"),
    "a missing profile": (["--seccomp", "/nowhere/p.json", *payload], r"/nowhere/p\.json"),
    "a rule without a port": (["--allow", "packages.example", *payload], r"--allow: 'packages\.example': the port is missing; .*packages\.example:443"),
    "a rule in disguise": (["--allow", "0x7f.1:80", *payload], r"--allow: '0x7f\.1:80': the host ends in a number"),
    "a rule for the host's loopback": (["--allow", "127.0.0.1:80", *payload], r"--allow: .*loopback addresses; write private:"),
    "rules at odds": (["--allow", "a.example:443", "--allow", "tcp:a.example:443", *payload], r"--allow: 'tcp:a\.example:443' contradicts"),
    "tty and a file": (["--tty", "--stdin", plain, *payload], r"tty and stdin FILE exclude each other"),
    "tty and stderr": (["--tty", "--stderr", plain, *payload], r"tty and stderr FILE exclude each other"),
}
for name, (args, pattern) in BAD.items():
    run = pinfold("run", "--id", MARK, *args)
    is_((run.status, run.code, run.out), ("refused", 125, b""), f"{name}: refused", run)
    like(run.message, pattern, f"{name}: says what and how")
    like(run.err.decode(), r"^pinfold: refused", f"{name}: on stderr")
is_(leftovers(MARK), [], "nothing was left")
is_(tree(folder), before, "no file was made or touched")

for args, pattern in ([], r"no command"), (["rum"], r"rum: no such command"), ([""], r": no such command"), (["run", "--help"], None), \
        (["help"], None), (["--help"], None), (["--version"], None), (["kill", "../x"], r"\.\./x: no run"):
    run = pinfold(*args, result=False)
    is_(run.code, 0 if pattern is None else 125, f"pinfold {' '.join(args)}: {'help' if pattern is None else 'refused'}", run)
    if pattern:
        like(run.err.decode(), pattern, "with the reason")
run = pinfold("run", "--help", result=False)
for word in ("--memory", "--wall", "--spec", "--tty"):
    ok(word in run.out.decode(), f"--help tells of {word}")
if WHO == "user" and os.geteuid() == 0:
    closed = image({"bin/payload": ("copy", payload_path())})
    os.chmod(closed, 0o700)
    run = pinfold("run", closed, "/bin/payload", "exit", "0")
    is_((run.status, run.code), ("refused", 125), "an image that the caller may not enter: refused", run)
    like(run.message, r"[Pp]ermission", "with the reason")
with open("/dev/full", "wb") as full:
    run = pinfold("help", stdout=full, result=False)
is_(run.code, 125, "help into a full disk is no success", run)
done()
