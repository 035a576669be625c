"""A terminal for a test: a pty whose master is ours, and pinfold, or a shell, in a session of its own on the slave."""
import fcntl
import os
import pty
import re
import select
import struct
import termios
import time

import pf


class Terminal:
    """A context manager. out has everything that came from the slave so far, \\r\\n turned into \\n."""

    def __init__(self, rows=24, columns=80):
        self.master, self.slave = pty.openpty()
        self.resize(rows, columns)
        self.raw, self.at = b"", 0

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.hang_up()
        os.close(self.slave)

    def hang_up(self):
        if self.master >= 0:
            os.close(self.master)
        self.master = -1

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def settings(self):
        return termios.tcgetattr(self.slave)

    def start(self, *args, **options):
        """pf.start() with this terminal as stdin, stdout, stderr and controlling terminal."""
        standard = {"stdin": self.slave, "stdout": self.slave, "stderr": self.slave, **options}
        return pf.start(*args, preexec_fn=self.adopt, start_new_session=True, **standard)

    def adopt(self):
        """In the child, which leads a session."""
        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)

    def type(self, data):
        os.write(self.master, data)

    @property
    def out(self):
        return self.raw.replace(b"\r\n", b"\n").decode("utf-8", "replace")

    def _more(self, seconds):
        ready, _, _ = select.select([self.master], [], [], seconds)
        if ready:
            try:
                data = os.read(self.master, 65536)
            except OSError:  # EIO: nobody has the slave open
                data = b""
            self.raw += data
            return bool(data)
        return False

    def expect(self, pattern, seconds=60):
        """Wait until pattern is found behind what was expected before; returns the match, or None."""
        deadline = time.monotonic() + seconds
        while True:
            found = re.search(pattern, self.out[self.at:], re.M)
            if found:
                self.at += found.end()
                return found
            if not self._more(max(0, deadline - time.monotonic())) and time.monotonic() >= deadline:
                pf.diag(f"{pattern!r} was not found in {self.out[self.at:]!r}")
                return None

    def rest(self):
        """What is still to be read when whoever wrote has ended."""
        while self._more(0):
            pass
        return self.out[self.at:]
