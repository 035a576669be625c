#!/usr/bin/python3
"""A valid result document is there for every outcome, bad usage included, and it agrees with the exit code."""
import os
import re
import resource
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *
import pf

payload = [tiny(), "/bin/payload"]
OUTCOMES = {
    "a good end": ("exited", 0, [*payload, "exit", "0"]),
    "a bad end": ("exited", 9, [*payload, "exit", "9"]),
    "a signal": ("signaled", 139, [*payload, "signal", "11"]),
    "a time limit": ("wall-timeout", 124, ["--wall", "100ms", *payload, "sleep", "600"]),
    "an idle limit": ("idle-timeout", 124, ["--idle", "100ms", *payload, "sleep", "600"]),
    "a cpu limit": ("cpu-timeout", 124, ["--cpu-time", "100ms", *payload, "burn", "600"]),
    "an output limit": ("output-limit", 124, ["--output", "10", *payload, "spam", "stdout", "100"]),
    "a command that is not there": ("exec-failed", 127, [tiny(), "/bin/x"]),
    "a command that is a folder": ("exec-failed", 126, [tiny(), "/bin"]),
    "an unknown option": ("refused", 125, ["--memroy", "1M", *payload]),
    "an option without a value": ("refused", 125, ["--memory", *payload]),
    "a wrong unit": ("refused", 125, ["--memory", "64MB", *payload]),
    "no image": ("refused", 125, []),
    "no command": ("refused", 125, [tiny()]),
    "a missing image": ("refused", 125, ["/nowhere/at/all", "/bin/x"]),
    "an unknown image": ("refused", 125, ["no-such-image", "/bin/x"]),
    "a missing spec": ("refused", 125, ["--spec", "/nowhere/spec.json"]),
    "an impossible guarantee": ("refused", 125, ["--require", "nonsense", *payload]),
    "a missing working directory": ("refused", 125, ["--workdir", "/nowhere", *payload, "exit", "0"]),
    "a missing seccomp profile": ("refused", 125, ["--seccomp", "/nowhere/profile.json", *payload, "exit", "0"]),
}
if os.uname().machine == "x86_64":
    OUTCOMES["a system call of another ABI"] = ("foreign-abi", 159, [*payload, "foreign", "x32", "39"])
for name, (status, code, args) in OUTCOMES.items():
    run = pinfold("run", *args)
    is_((run.status, run.code), (status, code), f"{name}: {status}, {code}", run)
    if not run.result:
        continue
    is_(run.result["ok"], status == "exited" and code == 0, f"{name}: ok says the same")
    if status not in ("exited", "signaled"):
        ok(run.message, f"{name}: says why")
        like(run.err.decode(), rf"^pinfold: {status}", f"{name}: stderr says so")
    if status in ("refused", "exec-failed"):
        is_(run.out, b"", f"{name}: nothing ran")

run = pinfold("run", "--id", "the-name", "--env", "A=1", *payload, "exit", "0")
is_(run.result["id"], "the-name", "the id is the one that was given")
is_(run.result["host"]["kernel"], os.uname().release, "the kernel's release")
again = pinfold("run", "--id", "the-name", "--env", "A=1", *payload, "exit", "0")
ok(len({len(r.result["spec_sha256"]) for r in (run, again)}) == 1, "the spec has a digest")
names = [row["name"] for row in run.result["guarantees"]]
is_(len(names), len(set(names)), "every guarantee stands once in the ledger")
first, second = (pinfold("run", *payload, "exit", "0").result["id"] for _ in range(2))
ok(first != second, "without --id every run has an id of its own")

# Any bytes of the sandbox's are text, or base64 that says so; pf parses as strictly as the standard.
run = pinfold("run", tiny(), b"/bin/\xff\xfe\xed\xa0\x80\x1b[31m")
is_((run.status, run.code), ("exec-failed", 127), "a command of any bytes", run)
unlike(run.err, rb"\x1b|\xff", "and nothing of it drives the terminal")
run = pinfold("run", b"--workdir=/\x1b]52;c;aGk=\x07\xe2\x80\xae", *payload, "exit", "0")
is_(run.status, "refused", "a path of any bytes", run)
unlike(run.err, rb"\x1b|\x07|\xe2\x80\xae", "and nothing of it drives the terminal")

# Whatever limit on file sizes we were started under: a write that fails is an error, no death by SIGXFSZ.
def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


for name, args in {"bad usage": ["--bogus"], "a run": [*payload, "exit", "0"], "events": ["--events", os.path.join(tmpdir(), "e"), *payload, "exit", "0"]}.items():
    read_end, write_end = os.pipe()
    run = pinfold("run", "--result", f"fd:{write_end}", *args, result=False, pass_fds=[write_end], preexec_fn=small_files)
    os.close(write_end)
    with open(read_end, "rb") as file:
        document = pf.parse(file.read(), "result")
    is_((run.code, document["status"] in ("refused", "setup-failed")), (125, True), f"no file may have a byte, {name}: a result", run)
run = pinfold("run", *payload, "exit", "0", preexec_fn=small_files)
is_((run.code, run.result), (125, None), "and a result file that cannot be written is none", run)
like(run.err.decode(), r"File too large", "with the reason")
for command in ["help"], ["ps"], ["run", "--help"], ["explain", *payload, "exit", "0"]:
    with open(os.path.join(tmpdir(), "out"), "wb") as file:
        run = pinfold(*command, stdout=file, result=False, preexec_fn=small_files)
    ok(run.code >= 0, f"{command[0]}: no death", run)
run = pinfold("run", *payload, "signals")
is_(re.findall(rb"^Sig(?:Blk|Ign):\t(\w+)", run.out, re.M), [b"0" * 16] * 2, "the program does not inherit how we do that", run)

# What fills its field is whole.
profile = os.path.join(tmpdir(), "profile.json")
with open(profile, "w", encoding="ascii") as file:
    file.write('{"defaultAction": "SCMP_ACT_ALLOW"}')
run = pinfold("run", "--seccomp", profile, *payload, "exit", "0")
like(run.guarantee("seccomp")["value"], r"^[0-9a-f]{64}$", "the digest of a profile has all its digits")
long = "/" + "long/" * 200 + "name"
run = pinfold("run", "--workdir", long, *payload, "exit", "0")
like(run.message, r"^working directory /long/.*\.\.\..*: it is not in the image$", "a message that is too long loses its middle, and shows it")

# Without --result there is none, and nothing is said about it.
run = pinfold("run", *payload, "exit", "3", result=False)
is_(run.code, 3, "no --result: the exit code alone")
# Usage is what it was, or null.
usage = pinfold("run", *payload, "burn", "0.2", ",", "tmpfs", "2M").result["usage"]
within(usage["scratch_bytes"], 2 << 20, 3 << 20, "usage: scratch")
within(usage["scratch_inodes"], 1, 1, "usage: inodes")
within((usage["cpu_user_usec"] or 0) + (usage["cpu_system_usec"] or 0), 150_000, 5_000_000, "usage: cpu")
within(usage["wall_usec"], 200_000, 30_000_000, "usage: wall")
done()
