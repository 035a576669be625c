#!/usr/bin/python3
"""Children that pinfold inherited by exec are not taken for its own: their end is not the run's."""
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *
import pf

# bash starts a child for the process substitution and becomes pinfold; cat ends when this process closes its stdin.
script = 'exec "$@" 11< <(cat; exit 3)'
result = os.path.join(tmpdir(), "result.json")
argv = [program_path(), "run", "--stdin", "null", "--result", result, tiny(), "/bin/payload", "await", "10", ",", "exit", "5"]
shell = subprocess.Popen(["/bin/bash", "-c", script, "bash", *argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, cwd="/", **pf._credentials(WHO))
is_(shell.stdout.readline(), b"waiting\n", "it runs, with a child that it did not make")


def children():
    with open(f"/proc/{shell.pid}/task/{shell.pid}/children", encoding="ascii") as file:
        return [int(pid) for pid in file.read().split()]


def state(pid):
    with open(f"/proc/{pid}/stat", "rb") as file:
        return file.read().rsplit(b")", 1)[1].split()[0]


is_(len(children()), 2, "the stranger and pid 1 of the sandbox")
stranger = next(pid for pid in children() if os.readlink(f"/proc/{pid}/ns/pid") == os.readlink("/proc/self/ns/pid"))
shell.stdin.close()
wait_for(lambda: not os.path.exists(f"/proc/{stranger}") or state(stranger) == b"Z", what="the stranger's end")
is_(shell.poll(), None, "the stranger has ended, the run goes on")
os.kill(shell.pid, signal.SIGUSR1)
is_(shell.stdout.read(), b"got 10\n", "the program is alive")
is_(shell.wait(), 5, "and its exit code is its own")
with open(result, "rb") as file:
    document = pf.parse(file.read(), "result")
is_((document["status"], document["exit"]["code"]), ("exited", 5), "exited, 5", str(document))
shell.stdout.close()
shell.stderr.close()

# A caller that ignores SIGCHLD has the kernel reap what it starts; so must not become of pid 1 and the program.
run = pinfold("run", tiny(), "/bin/payload", "exit", "6", preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
is_((run.status, run.code), ("exited", 6), "with SIGCHLD ignored by the caller: exited, 6", run)
run = pinfold("run", tiny(), "/bin/payload", "exit", "6",
              preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65)))
is_((run.status, run.code), ("exited", 6), "with every signal blocked by the caller: exited, 6", run)
done()
