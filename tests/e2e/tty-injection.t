#!/usr/bin/python3
"""The program cannot type into the caller's terminal, nor take one: TIOCSTI and its kind are EPERM whatever the upper half
of the argument says, and without --tty there is no terminal to find."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *
from terminal import Terminal

IOCTL = {"x86_64": 16, "aarch64": 29}[os.uname().machine]
TIOCSTI, TIOCLINUX, TIOCSCTTY, TIOCSETD, TIOCCONS, KDSKBENT, VT_ACTIVATE = 0x5412, 0x541C, 0x540E, 0x5423, 0x541D, 0x4B47, 0x5606
DENIED = ("EPERM", "ENOTTY")  # EPERM for the dangerous, ENOTTY for what is not in the list


def tries():
    verbs = []
    for request in TIOCSTI, TIOCLINUX, TIOCSETD, TIOCCONS, KDSKBENT, VT_ACTIVATE:
        for upper in 0, 1, 0x123, 0xDEAD:
            for fd in 0, 1, 2:
                # A byte to type at an address that is mapped in any program: its own ELF header.
                verbs += ["syscall", IOCTL, fd, hex(upper << 32 | request), "0x400000", ","]
    return verbs + ["exit", "3"]


def check(out, name):
    got = [line.split() for line in out.replace("\r", "").splitlines() if line.startswith("syscall")]
    is_(len(got), 6 * 4 * 3, f"{name}: every request was tried")
    is_([row for row in got if row[-1] not in DENIED], [], f"{name}: each is denied")
    is_({row[-1] for row in got[:2 * 4 * 3]}, {"EPERM"}, f"{name}: TIOCSTI and TIOCLINUX are EPERM")


with Terminal() as t:
    with t.start("run", "--tty", tiny(), "/bin/payload", *tries()) as running:
        while running.process.poll() is None:
            t.expect(r"syscall.*\n", 0.2)
        run = running.wait()
    t.rest()
    check(t.out, "--tty")
with Terminal() as t:
    with t.start("run", "--stdin", "-", tiny(), "/bin/payload", *tries()) as running:
        while running.process.poll() is None:
            t.expect(r"syscall.*\n", 0.2)
        run = running.wait()
    t.rest()
    check(t.out, "without --tty, the caller on a terminal")
    with t.start("run", "--stdin", "-", tiny(), "/bin/payload", "tty", ",", "open", "w", "/dev/tty", "/proc/self/fd/0", "/dev/console",
                 "/dev/tty0", "/dev/tty1", "/dev/ttyS0", ",", "list", "/dev/pts") as running:
        run = running.wait()
    t.expect("^isatty 0 0$")
    out = t.out
like(out, r"^isatty 1 0\nisatty 2 0\n", "without --tty nothing is a terminal")
like(out, r"^ctty ENXIO$", "none controls the program")
like(out, r"^open /dev/tty ENXIO$", "and /dev/tty is none")
like(out, r"^open /dev/console ENOENT\nopen /dev/tty0 ENOENT\nopen /dev/tty1 ENOENT\nopen /dev/ttyS0 ENOENT\n", "nor is there another")
unlike(out, r"^\d+ 2\d+ ", "the host's /dev/pts is not seen")

# Its own, which any program may make (T40).
run = pinfold("run", rootfs("python"), "python3", "-c", "import os, pty; print(os.waitstatus_to_exitcode(pty.spawn(['/bin/true'])))")
is_((run.status, run.code, run.out), ("exited", 0, b"0\n"), "a program can make terminals of its own", run)
run = pinfold("run", rootfs("python"), "python3", "-c",
              "import os, pty, sys\nm, s = pty.openpty()\nprint(os.ttyname(s), oct(os.stat('/dev/ptmx').st_mode & 0o777), sorted(os.listdir('/dev/pts')))")
is_(run.out, b"/dev/pts/0 0o666 ['0', 'ptmx']\n", "from a devpts of its own", run)
run = pinfold("run", rootfs("python"), "python3", "-c", "import pty\nn = 0\ntry:\n  while True: pty.openpty(); n += 1\nexcept OSError as e: print(n, e.errno)")
within(int(run.out.split()[0]), 30, 1024, "the number of which is bounded")
done()
