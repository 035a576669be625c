#!/usr/bin/python3
"""An interactive shell works inside --tty, with job control, and the shell outside is in the foreground afterwards."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *
import pf
from terminal import Terminal



def foreground(pid):
    """The names of the processes below pid that are in the foreground of their terminal."""
    names, todo = [], [pid]
    while todo:
        pid = todo.pop()
        try:
            with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
                todo += map(int, file.read().split())
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                name, rest = file.read().split("(", 1)[1].rsplit(")", 1)
        except OSError:
            continue
        fields = rest.split()
        if fields[2] == fields[5]:  # pgrp is tpgid
            names.append(name)
    return names


with Terminal() as t:
    with t.start("run", "--tty", "--env", "PS1=in> ", busybox_image(), "sh", "-i") as running:
        ok(t.expect(r"in> "), "a shell inside has a prompt")
        unlike(t.out, r"job control|can't access tty", "and no complaint about job control")
        t.type(b"echo $((6 * 7))\n")
        ok(t.expect(r"^42$"), "it computes")
        t.type(b"sleep 600\n")
        t.expect(r"sleep 600\n")
        # The key comes when sleep has the terminal, or the shell would get it.
        wait_for(lambda: "sleep" in foreground(running.pid), what="sleep")
        t.type(b"\x1a")
        ok(t.expect(r"Stopped"), "the key for stop stops a job")
        t.type(b"jobs\n")
        ok(t.expect(r"\[1\]\+\s+Stopped\s+sleep 600"), "which is listed")
        # What is typed while the shell hands the terminal back is thrown away (TCSAFLUSH), so each
        # line waits for the prompt that belongs to it.
        t.type(b"kill %1; fg; echo $((2 + 3))\n")
        t.expect(r"^5$")
        t.expect(r"in> ")
        t.type(b"sleep 600\n")
        t.expect(r"sleep 600\n")
        wait_for(lambda: "sleep" in foreground(running.pid), what="sleep")
        t.type(b"\x03")
        ok(t.expect(r"in> "), "the key for interrupt ends a job, not the shell")
        wait_for(lambda: "sleep" not in foreground(running.pid), what="the shell to have the terminal")
        t.type(b"exit 7\n")
        run = running.wait()
    is_((run.status, run.code), ("exited", 7), "the shell ends by itself", run)

# T37: outside, a shell that runs pinfold as its job has the terminal back afterwards.
with Terminal() as t:
    entry = pf._credentials(WHO)
    shell = subprocess.Popen(["/bin/bash", "--norc", "--noprofile", "-i"], stdin=t.slave, stdout=t.slave, stderr=t.slave, cwd="/",
                             env={"PATH": os.environ["PATH"], "PS1": "out> "}, preexec_fn=t.adopt, start_new_session=True, **entry)
    ok(t.expect(r"out> "), "a shell outside has a prompt")
    before = t.settings()
    t.type(f"{program_path()} run --tty {tiny()} /bin/payload tty; echo code $?\n".encode())
    ok(t.expect(r"^ctty yes$") and t.expect(r"^code 0$"), "it runs pinfold")
    t.type(b"read -r line; echo \"got $line\"\n")
    t.expect(r"got \$line\"\n")
    t.type(b"something\n")
    ok(t.expect(r"^got something$"), "and can read from the terminal afterwards")
    t.type(f"{program_path()} run --tty {tiny()} /bin/payload sleep 600; echo code $?\n".encode())
    wait_for(lambda: "payload" in foreground(shell.pid), what="the program")
    t.type(b"\x03")
    ok(t.expect(r"^code 130$"), "an interrupt inside ends the program: 128 + 2")
    t.type(b"exit 3\n")
    is_(shell.wait(60), 3, "the shell outside was never stopped")
done()
