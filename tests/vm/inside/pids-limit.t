#!/usr/bin/python3
"""--pids counts every task of the program, threads too, and not our pid 1; beyond it fork says EAGAIN."""
from guest import *

COUNT = r"""
import os, sys, threading, errno
forks, threads = int(sys.argv[1]), int(sys.argv[2])
made = 1
hold = threading.Event()
try:
    for i in range(threads):
        threading.Thread(target=hold.wait, daemon=True).start()
        made += 1
except RuntimeError:
    print("thread refused")
refused = None
for i in range(forks):
    try:
        if os.fork() == 0:
            hold.wait()
        made += 1
    except OSError as e:
        refused = errno.errorcode[e.errno]
        break
print(made, refused, flush=True)
os._exit(0)
"""

run = pinfold("run", "--pids", "20", "@host", "--", "/usr/bin/python3", "-c", COUNT, "100", "0", timeout=120)
is_(run.out, b"20 EAGAIN\n", "20 processes, the 21st is EAGAIN", str(run))
ok(run.evidence.get("pids.events.max", 0) > 0, "the refusal was counted", str(run))
is_(run.result["usage"]["pids_peak"], 20, "the peak leaves our pid 1 out")
row = run.guarantee("pids")
is_((row["state"], row["by"]), ("enforced", "pids.max"), "the ledger says by what", str(row))

run = pinfold("run", "--pids", "20", "@host", "--", "/usr/bin/python3", "-c", COUNT, "100", "8", timeout=120)
is_(run.out, b"20 EAGAIN\n", "threads count as processes do", str(run))

run = pinfold("run", "--pids", "20", "@host", "--", "/usr/bin/python3", "-c", COUNT, "19", "0", timeout=120)
is_(run.out, b"20 None\n", "exactly 20 are no matter", str(run))
is_(run.evidence.get("pids.events.max", 0), 0, "and nothing was refused")

run = pinfold("run", "--pids", "30", "--wall", "4s", eater(), "/bin/sh", "-c", "f() { f | f & }; f; sleep 60")
ok(run.status in ("wall-timeout", "exited"), "a fork bomb ends with its run", str(run))
within(run.result["usage"]["pids_peak"], 25, 30, "a fork bomb stays within its limit")
done()
