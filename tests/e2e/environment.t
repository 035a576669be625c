#!/usr/bin/python3
"""The program's environment is a short list of ours and what --env says; nothing of the caller's gets in."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

HOSTILE = {"LD_PRELOAD": "/tmp/canary.so", "LD_LIBRARY_PATH": "/tmp/canary", "LD_AUDIT": "/tmp/canary.so", "AWS_SECRET": "canary",
           "NOTIFY_SOCKET": "/run/canary", "SSH_AUTH_SOCK": "/run/canary", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/canary",
           "LISTEN_FDS": "1", "LISTEN_PID": "1", "TMPDIR": "/canary", "GLIBC_TUNABLES": "glibc.malloc.check=3", "IFS": "c",
           "BASH_FUNC_x%%": "() { canary; }", "PYTHONPATH": "/canary", "GCONV_PATH": "/canary", "http_proxy": "canary:1"}
DEFAULT = ["HOME=/scratch", "LANG=C.UTF-8", "LOGNAME=user", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "USER=user"]

run = pinfold("run", tiny(), "/bin/payload", "env", ",", "cat", "/proc/self/environ", env=HOSTILE)
lines = sorted(set(run.out.replace(b"\0", b"\n").decode().split("\n")) - {""})
is_(lines, DEFAULT, "the environment is this and nothing else", run)
unlike(run.out, rb"canary", "nothing of the caller's")
run = pinfold("run", tiny(), "/bin/payload", "open", "r", "/proc/1/environ", "/proc/1/cmdline", ",", "cat", "/proc/1/cmdline", env=HOSTILE)
unlike(run.out, rb"canary|result\.json|" + os.path.basename(tiny()).encode(), "pid 1 shows neither environment nor words of the caller's")
like(run.out, rb"^open /proc/1/environ EACCES$", "pid 1's environment cannot be opened")

run = pinfold("run", "--env", "A=1", "--env", "PATH=/x:/bin", "--env", "A=2", "--env", "EMPTY=", "--env", "EQUALS=a=b", "--env", "LD_PRELOAD=/lib/x.so",
              "--env", b"BYTES=\xff\xfe\n", tiny(), "/bin/payload", "cat", "/proc/self/environ", env={"A": "0"})
entries = run.out.split(b"\0")
for want in (b"A=2", b"PATH=/x:/bin", b"EMPTY=", b"EQUALS=a=b", b"LD_PRELOAD=/lib/x.so", b"BYTES=\xff\xfe\n", b"HOME=/scratch"):
    is_(entries.count(want), 1, f"--env: {want!r} is there, once")
is_(len([e for e in entries if e.startswith(b"A=")]), 1, "the later one won")
for bad in ("A", "=x", "1A=x", "A B=x", ""):
    run = pinfold("run", f"--env={bad}", tiny(), "/bin/payload", "exit", "0")
    is_((run.status, run.code), ("refused", 125), f"--env={bad!r} is refused", run)
run = pinfold("run", "--tty", tiny(), "/bin/payload", "env")
like(run.out, rb"^TERM=\S+\r?$", "with --tty there is a TERM")
run = pinfold("run", "--uid", "0", tiny(), "/bin/payload", "env")
like(run.out, rb"^USER=root$", "uid 0 is called root")
done()
