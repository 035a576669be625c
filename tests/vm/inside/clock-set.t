#!/usr/bin/python3
"""A wall limit is elapsed time: setting the host's clock neither ends a run early nor lets it live longer."""
import time

from guest import *

if AS != "root":
    skip_all("needs root to set the clock")

for name, step in ("an hour forward", 3600), ("an hour back", -3600):
    with start("run", "--wall", "4s", eater(), "/bin/sh", "-c", "echo up; sleep 600") as running:
        is_(running.process.stdout.readline(), b"up\n", f"{name}: it runs")
        time.clock_settime(time.CLOCK_REALTIME, time.time() + step)
        run = running.wait()
    is_(run.status, "wall-timeout", f"{name}: it ends at its limit", str(run))
    within(run.result["usage"]["wall_usec"], 4_000_000, 5_000_000, f"{name}: on time")
done()
