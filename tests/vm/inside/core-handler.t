#!/usr/bin/python3
"""A crash inside never starts the host's core handler, which would run as root with the program's memory on stdin."""
import subprocess

from guest import *

if AS != "root":
    skip_all("needs root to set a core handler")

PATTERN = "/proc/sys/kernel/core_pattern"
HANDLER, RAN = "/var/tmp/core-handler", "/var/tmp/core-handler-ran"
CRASH = ["/bin/sh", "-c", "kill -SEGV $$"]


def count():
    """How often the handler has run."""
    return len(read(RAN)) if os.path.exists(RAN) else 0


with open(HANDLER, "w", encoding="ascii") as file:
    file.write(f"#!/bin/sh\ncat >/dev/null\necho >>{RAN}\n")
os.chmod(HANDLER, 0o755)
before = read(PATTERN)
write("|" + HANDLER, PATTERN)

subprocess.run(CRASH, check=False)
wait_for(lambda: count() == 1, what="the handler of the control")
ok(True, "the control, a crash outside, starts it")
os.unlink(RAN)

run = pinfold("run", eater(), *CRASH)
is_((run.status, run.result["exit"]["signal"]), ("signaled", 11), "a crash inside", str(run))
# Had it been started, it would be at work by now at the latest: a later one ends before this returns.
subprocess.run(CRASH, check=False)
wait_for(lambda: count() == 1, what="the handler of a second control")
is_(count(), 1, "does not start it")

write(before, PATTERN)
done()
