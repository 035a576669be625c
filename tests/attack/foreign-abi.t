#!/usr/bin/python3
"""KI03: i386 and x32 have no door: the first such call ends the run, and the result says so."""
import errno
import json
import os
import platform
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from attack import *
from pf import *

if platform.machine() != "x86_64":
    skip_all("no foreign ABI on this architecture")

# exit(42) as an i386 program, written by hand: one ELF header, one program header, twelve bytes of code.
BASE, HEADERS = 0x08048000, 52 + 32
code = bytes.fromhex("b801000000" "bb2a000000" "cd80")  # mov $1,%eax; mov $42,%ebx; int $0x80
i386 = struct.pack("<16sHHIIIIIHHHHHH", b"\x7fELF\x01\x01\x01", 2, 3, 1, BASE + HEADERS, 52, 0, 0, 52, 32, 1, 0, 0, 0)
i386 += struct.pack("<IIIIIIII", 1, 0, BASE, BASE, HEADERS + len(code), HEADERS + len(code), 5, 0x1000) + code

tree = probe_image({"bin/i386": ("file", i386, 0o755)})
controls = weak(tree, ["KI03"])
try:
    unconfined = subprocess.run([os.path.join(tree, "bin/i386")], check=False).returncode
except OSError as error:
    unconfined = error.strerror


def ended(run, name, what):
    is_((run.status, run.out), ("foreign-abi", b""), f"{name} ends the run", run)
    is_(run.code, 128 + 31, f"{name}: the exit code is SIGSYS's", run)
    is_((run.evidence.get("arch"), "syscall" in run.evidence), (what, True), f"{name}: the evidence has architecture and number", run)


for row in ("int80", "far-int80", "far-sysenter"):
    row = f"KI03.{row}"
    with unharmed(row):
        outcomes, run = strong(tree, [row])
    if controls[row][0] == "reached":
        ended(run, row, "i386")
    else:
        skip("no i386 emulation by this way here", f"{row} ends the run")
        ok(outcomes.get(row, ("died",))[0] != "reached", f"{row} reaches nothing", run)

# The filter tells x32 by the number alone, whether the kernel has it or not.
with unharmed("KI03.x32"):
    outcomes, run = strong(tree, ["KI03.x32"])
ended(run, "KI03.x32", "x86_64" if run.evidence.get("arch") == "x86_64" else "x32")

outcomes, run = strong(tree, ["KI03.x32-negative"])
is_(outcomes, {"KI03.x32-negative": ("blocked", "ENOSYS")}, "a number of no ABI is a call of the future", run)

run = pinfold("run", tree, "/bin/i386")
if unconfined == 42:
    ended(run, "an i386 program", "i386")
else:
    skip("no i386 emulation in this kernel", "an i386 program ends the run")
    is_(run.status, "exec-failed", f"an i386 program does not start ({unconfined} unconfined)", run)

# The vsyscall page is another door to three native calls, and the filter stands in it too: a policy that denies the call
# denies it there. Ours allows all three, as the vDSO gives their answers to everybody.
CALLS = ("gettimeofday", "time", "getcpu")
pages = [f"KI03.vsyscall-{name}" for name in CALLS]
if all(controls[row] == ("reached", "0") for row in pages):
    outcomes, run = strong(tree, pages)
    is_(outcomes, dict.fromkeys(pages, ("reached", "0")), "the vsyscall page: as harmless as the calls that it stands for", run)
    policy = os.path.join(tmpdir(), "no-time.json")
    with open(policy, "w", encoding="ascii") as file:
        json.dump({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [
            {"names": CALLS, "action": "SCMP_ACT_ERRNO", "errnoRet": errno.EACCES}]}, file)
    outcomes, run = strong(tree, pages, ["--seccomp", policy])
    is_(outcomes, dict.fromkeys(pages, ("blocked", "EACCES")), "the vsyscall page: filtered as those calls", run)
else:
    skip("no vsyscall page in this kernel", "the vsyscall page is filtered")

# Its own SIGSYS is a signal like any other.
run = pinfold("run", tiny(), "/bin/payload", "kill", "2", "31")
is_(run.status, "signaled", "a SIGSYS that the program sent itself is no foreign ABI", run)
is_(run.result["exit"]["signal"], 31, "and is told", run)

# When the budget of notifications is spent, nobody listens: then they are denied.
run = do(tree, "flood", "1500", "KI03.int80", "KI03.x32")
lines = run.out.decode().split("\n")
is_((run.status, lines[0], lines[2]), ("exited", "last ENOSYS", "KI03.x32 blocked ENOSYS"), "after 1500 denied calls x32 is denied", run)
ok(lines[1] in ("KI03.int80 blocked ENOSYS", "KI03.int80 died SIGSEGV"), "and i386", run)
is_(run.result["denied"]["complete"], False, "and the result says that not all was counted")
done()
