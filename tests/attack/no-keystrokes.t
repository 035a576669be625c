#!/usr/bin/python3
"""TT01, TT02, TT03: no program types into a terminal, its own or the caller's, takes it or changes what it is."""
import os
import fcntl
import pty
import sys
import termios

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from attack import *
from pf import *

FDS = ("0", "1", "2", "tty")
typed = {f"TT01.{kind}.{fd}": "EPERM" for kind in ("type", "high") for fd in FDS}
others = {"TT02.selection": "EPERM", "TT02.paste": "EPERM", "TT02.tioccons": "ENOTTY", "TT02.discipline": "ENOTTY",
          "TT02.exclusive": "ENOTTY", "TT02.packet": "ENOTTY"}
tree = probe_image()


class Terminal:
    """A new terminal as the controlling one of what is started with popen(); what reaches its input is seen by pending()."""

    def __enter__(self):
        self.master, self.slave = pty.openpty()
        # Every byte counts, at once.
        mode = termios.tcgetattr(self.slave)
        mode[3] &= ~(termios.ICANON | termios.ECHO)
        termios.tcsetattr(self.slave, termios.TCSANOW, mode)
        if os.geteuid() == 0:
            os.fchown(self.slave, *OWNER)
        return self

    def __exit__(self, *exc):
        os.close(self.master)
        os.close(self.slave)

    def popen(self):
        def take():
            os.setsid()
            fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
        return {"stdin": self.slave, "preexec_fn": take}

    def pending(self):
        count = bytearray(4)
        fcntl.ioctl(self.slave, termios.FIONREAD, count)
        return int.from_bytes(count, "little")


def legacy():
    try:
        with open("/proc/sys/dev/tty/legacy_tiocsti", encoding="ascii") as file:
            return file.read() == "1\n"
    except FileNotFoundError:
        return True


with Terminal() as terminal:
    # Not tioccons: it would take the host's console.
    safe = [row for row in others if row != "TT02.tioccons"]
    weak(tree, [*typed, *safe, "TT03"], **terminal.popen(), stdout=terminal.slave, stderr=terminal.slave)
    text = os.read(terminal.master, 65536).decode()
    controls = {row.split()[0]: tuple(row.split()[1:3]) for row in text.splitlines() if len(row.split()) == 3}
is_(controls.get("TT03.open"), ("reached", "0"), "control: the harness gives a controlling terminal", controls)
if legacy():
    is_([row for row in typed if controls.get(row, ("",))[0] != "reached"],
        [], "control: TIOCSTI types into it", controls)
else:
    skip("no TIOCSTI in this kernel (dev.tty.legacy_tiocsti is 0)", "control: TIOCSTI types into it")

# The caller has a terminal, the program none.
with Terminal() as terminal:
    with unharmed("a caller with a terminal"):
        outcomes, run = strong(tree, [*typed, *others, "TT03"], **terminal.popen(), stderr=terminal.slave)
    is_(terminal.pending(), 0, "nothing was typed into the caller's terminal")
for row, want in typed.items():
    # no descriptor is a terminal, and there is none to open
    is_(outcomes.get(row), ("blocked", "ENXIO" if row.endswith("tty") else want), f"{row}: no terminal", run)
for row in ("TT03.open", "TT03.foreground"):
    is_(outcomes.get(row), ("blocked", "ENXIO"), f"{row}: no terminal", run)
is_(outcomes.get("TT03.steal", ("",))[0], "blocked", "TT03.steal: no terminal", run)

# With --tty it has one of its own.
with Terminal() as terminal:
    with unharmed("--tty"):
        outcomes, run = strong(tree, [*typed, *others], ["--tty"], **terminal.popen(), stderr=terminal.slave)
    is_(terminal.pending(), 0, "--tty: nothing was typed into the caller's terminal")
for row, want in {**typed, **others}.items():
    is_(outcomes.get(row), ("blocked", want), f"--tty: {row}: {want}", run)

# Without the filter: TIOCSTI works on its own terminal then, and still not on the caller's.
with Terminal() as terminal:
    run = do(tree, "list", "/dev/pts", flags=["--tty"], **terminal.popen(), stderr=terminal.slave)
    is_(run.out.split(), [b"0", b"ptmx"], "the only terminal in sight is its own", run)
    strong(tree, ["TT01"], ["--tty", "--seccomp", allow_all()], **terminal.popen(), stderr=terminal.slave)
    is_(terminal.pending(), 0, "without the filter: nothing was typed into the caller's terminal")
done()
