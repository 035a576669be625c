#!/usr/bin/python3
"""--audit syslog: one datagram a record in the traditional format at /dev/log; a daemon that was restarted is found again, and
without one nothing runs."""
import json
import os
import re
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *
import pf

if os.geteuid() != 0:
    skip_all("needs root to have a /dev of its own")
payload = [tiny(), "/bin/payload"]
work = tmpdir()
ID = f"sys-{os.getpid()}"
log = os.path.join(work, "log")
# A mount namespace whose /dev has what a run needs, and log leads to us.
WITHIN = ("unshare", "-m", "sh", "-ec", f"""
mkdir -p {work}/old
mount --rbind /dev {work}/old
mount -t tmpfs -o mode=755 tmpfs /dev
for d in null zero full random urandom tty; do : > /dev/$d; mount --bind {work}/old/$d /dev/$d; done
ln -s {log} /dev/log
exec "$@" """, "sh")


def listen():
    daemon = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    daemon.bind(log)
    os.chmod(log, 0o666)
    daemon.settimeout(60)
    return daemon


def take(daemon):
    """(priority, the record) of the next datagram."""
    text = daemon.recv(65536).decode("ascii")
    head = re.fullmatch(r"<(\d+)>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d pinfold\[(\d+)\]: (.*)", text)
    record = pf.parse(head[3].encode(), "audit")
    is_(int(head[2]), record["who"]["pid"], "the datagram has pinfold's pid")
    return int(head[1]), record


run = pinfold("run", "--audit", "syslog", *payload, "echo", "ran", within=WITHIN)
is_((run.code, run.status, run.out), (125, "refused", b""), "nobody listens: nothing runs", run)
like(run.message, r"syslog: connect to /dev/log: ", "and why")
with listen() as daemon:
    run = pinfold("run", "--audit", "syslog", "--id", ID, "--wall", "100ms", *payload, "sleep", "600", within=WITHIN)
    got = [take(daemon) for _ in range(3)]
    is_([(p, r["event"]) for p, r in got], [(85, "start"), (84, "limit"), (85, "end")], "start, limit and end, authpriv.notice and .warning", run)
    is_({r["id"] for _, r in got}, {ID}, "of that run")
    with start("run", "--audit", "syslog", *payload, "await", "10", ",", "exit", "4", within=WITHIN) as running:
        running.line()
        is_(take(daemon)[1]["event"], "start", "a run has begun")
        daemon.close()
        os.unlink(log)
        with listen() as again:
            running.signal(10)
            is_(running.wait().code, 4, "its daemon is started anew meanwhile")
            is_(take(again)[1]["event"], "end", "which gets the end")
    os.unlink(log)
with listen() as daemon, start("run", "--audit", "syslog", *payload, "await", "10", ",", "exit", "4", within=WITHIN) as running:
    running.line()
    daemon.close()
    os.unlink(log)
    running.signal(10)
    run = running.wait()
    is_((run.code, run.status), (125, "exited"), "a daemon that went away: the exit code says that a record is lost", run)
    like(" ".join(run.result["warnings"]), r"the record of the end was lost: audit: syslog: ", "and the result")
    ok(json.dumps(run.result), "which is there")
done()
