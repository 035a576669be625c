#!/usr/bin/python3
"""--cpu-time is the truth of the whole tree: double forks, ignored SIGCHLD and short-lived children all count."""
from guest import *

LIMIT = 1_000_000
SPIN = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"
CASES = {
    "main itself": "while :; do :; done",
    "an orphan while main sleeps": "((while :; do :; done) &) & sleep 60",
    "children that nobody waits for": f"trap '' CHLD; while :; do ({SPIN}) & wait; done",
    "a chain of short lives": f"f() {{ {SPIN}; (f) & exit 0; }}; f & sleep 60",
}

for name, script in CASES.items():
    run = pinfold("run", "--cpu-time", "1s", "--wall", "50s", eater(), "/bin/sh", "-c", script)
    is_((run.status, run.code, run.result["cause"]["limit"]), ("cpu-timeout", 124, "cpu-time"), f"{name}: status", str(run))
    used = run.result["usage"]["cpu_user_usec"] + run.result["usage"]["cpu_system_usec"]
    # Slack for a supervisor that is itself emulated; the bound that counts is measured on real cpus.
    within(used, LIMIT, LIMIT + 200_000, f"{name}: stopped at a second of cpu")
row = run.guarantee("cpu-time")
is_((row["state"], row["by"]), ("enforced", "cpu.stat"), "the ledger says by what", str(row))

run = pinfold("run", "--cpu-time", "1s", "--wall", "3s", eater(), "/bin/sleep", "60")
is_(run.status, "wall-timeout", "sleep uses no cpu", str(run))
done()
