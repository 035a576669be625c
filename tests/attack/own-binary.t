#!/usr/bin/python3
"""PR13, SV01: the runtime's own binary is out of the program's reach, also where the caller owns it."""
import os
import hashlib
import shutil
import stat
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from attack import *
from pf import *



def state(path):
    """All that a program could have changed."""
    info = os.lstat(path)
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    return (oct(info.st_mode), info.st_uid, info.st_gid, info.st_nlink, info.st_size, info.st_mtime_ns, info.st_ctime_ns,
            os.listxattr(path), digest)


def own_build(owner):
    """A copy of pinfold as its owner would have built it: theirs, and writable by them."""
    folder = tmpdir("root" if os.geteuid() == 0 else None)
    path = os.path.join(folder, "pinfold")
    shutil.copyfile(os.path.join(BUILD, "bin/pinfold"), path)
    os.chmod(path, 0o755)
    if os.geteuid() == 0:
        os.chown(folder, *owner)
        os.chown(path, *owner)
    return path


for name in ("bin/pinfold", "libexec/pinfold"):
    top = os.path.join(BUILD, name)
    for path in [top] if os.path.isfile(top) else [os.path.join(top, n) for n in os.listdir(top)]:
        mode = os.stat(path).st_mode
        is_((mode & (stat.S_ISUID | stat.S_ISGID), "security.capability" in os.listxattr(path)), (0, False),
            f"{os.path.basename(path)} has no privilege bit")

# An ELF file whose interpreter is /proc/self/exe: one PT_INTERP, one PT_LOAD, no code of its own.
interpreter = b"/proc/self/exe\0"
headers = 64 + 2 * 56
elf = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 2, 62 if os.uname().machine == "x86_64" else 183, 1,
                  0x400000 + headers, 64, 0, 0, 64, 56, 2, 0, 0, 0)
elf += struct.pack("<IIQQQQQQ", 3, 4, headers, 0x400000 + headers, 0x400000 + headers, len(interpreter), len(interpreter), 1)
elf += struct.pack("<IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, headers + 64, headers + 64, 0x1000) + interpreter + bytes(64)
ways = {"bin/shebang": b"#!/proc/self/exe\n", "bin/shebang-run": b"#!/proc/self/exe run\n",
        "bin/shebang-thread": b"#!/proc/thread-self/exe version\n", "bin/shebang-1": b"#!/proc/1/exe\n",
        "bin/interpreter": ("file", elf, 0o755), "bin/link": ("link", "/proc/self/exe"), "bin/link-1": ("link", "/proc/1/exe")}
tree = probe_image(ways)

who = OWNER if WHO == "user" else (0, 0)
binaries = {"its caller's": own_build(who)}
if WHO == "root":
    binaries["another user's"] = own_build((1000, 1000))
for whose, binary in binaries.items():
    before = state(binary)
    for way in ways:
        with unharmed(f"{way}, {whose} binary"):
            run = pinfold("run", "--wall", "50s", tree, "/" + way, "version", program=binary)
        ok(run.status in ("exited", "signaled", "exec-failed"), f"{way}: {whose} binary as its program: {run.status}", run)
        is_(state(binary), before, f"{way}: {whose} binary is as it was")
    # A program that tries everything for a while, on every path that could lead there.
    for flags in ([], ["--uid", "0"]):
        run = do(tree, "touch-binaries", "500", flags=flags, program=binary)
        is_((run.status, run.out.split(b"\n")[0]), ("exited", b"touched nothing"), f"no path of /proc leads to {whose} binary", run)
        is_(state(binary), before, f"after {' '.join(flags) or 'the default'}: {whose} binary is as it was")

# The control: a process of the same user on the host does reach the binary of a pinfold that runs.
binary = binaries["its caller's"]
before = state(binary)
account = {} if WHO == "root" or os.geteuid() else {"user": who[0], "group": who[1], "extra_groups": []}
with subprocess.Popen([binary, "run", "--stdin", "-", "@host", "/bin/cat"], stdin=subprocess.PIPE,
                      stderr=subprocess.DEVNULL, **account) as running:
    wait_for(lambda: state(binary), what="a start")
    touched = subprocess.run([PROBE, "do", "touch-exe", str(running.pid)], stdout=subprocess.PIPE, check=False, **account).stdout
    # What runs from a sealed copy has no link to the file any more: that is the protection.
    sealed = b"memfd" in touched
    running.stdin.close()
# Root's own is out of every sandbox's reach, and pays nothing.
is_(sealed, WHO == "user", "what its caller owns runs from a sealed copy", touched)
changed = state(binary) != before
is_(changed, not sealed, "control: the host reaches it through /proc/PID/exe, unless it runs from a sealed copy", touched)
copy = own_build(who)
before = state(copy)
with subprocess.Popen([copy, "run", "--result", "fd:9", "@host", "/bin/true"], stderr=subprocess.DEVNULL, **account):
    pass
subprocess.run([PROBE, "do", "touch-file", copy], stdout=subprocess.PIPE, check=True, **account)
ok(state(copy) != before, "control: a change of mode and times is seen")
done()
