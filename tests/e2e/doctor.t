#!/usr/bin/python3
"""`pinfold doctor` says by a real run what this user gets here: the rows are those of the ledger, each that is less than
enforced has its reason and what mends it, as text and as JSON."""
import json
import os
import pty
import resource
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *
from pf import account

UID = 0 if WHO == "root" else account("user").pw_uid if os.geteuid() == 0 else os.getuid()
ROWS = {"name", "state", "by", "value", "why", "not_covered", "mend"}


def doctor(*words, **options):
    """(document, Run) of doctor --json."""
    run = pinfold("doctor", "--json", *words, **options)
    return json.loads(run.out), run


def agrees(image, words):
    """Row by row with the ledger of a run of the same kind. io is not asked for there: run refuses it where it is absent."""
    document, run = doctor(*([image] if image != "@host" else []))
    is_((run.code, document["possible"], document["schema"], document["status"]), (0, True, "pinfold.doctor/1", "exited"), f"{image}: possible", run)
    is_(document["uid"], UID, f"{image}: the user")
    is_(document["kernel"], os.uname().release, f"{image}: the kernel")
    real = pinfold("run", "--idle", "30s", "--cpu-time", "20s", "--allow", "packages.example:443", image, *words)
    is_([row["name"] for row in document["guarantees"]], [row["name"] for row in real.result["guarantees"]], f"{image}: the ledger's rows, in its order")
    for row in document["guarantees"]:
        name, ledger = row["name"], real.guarantee(row["name"])
        is_(set(row), ROWS, f"{image}, {name}: its fields")
        if name == "io":
            ok(row["state"] in ("enforced", "absent"), f"{image}, io: there or not", str(row))
        else:
            covered = ", ".join(ledger.get("not_covered", []))
            is_((row["state"], row["by"], row["not_covered"]), (ledger["state"], ledger["by"] or "", covered), f"{image}, {name}: as the ledger has it")
            # Which cpus and which slot of ids differs from run to run.
            ok(name in ("cpus", "ids") or row["value"] == (ledger["value"] or ""), f"{image}, {name}: by value", f"{row}\n{ledger}")
        if row["state"] == "enforced":
            is_((row["why"], row["not_covered"], row["mend"]), ("", "", ""), f"{image}, {name}: enforced, nothing to add")
        else:
            ok(row["why"] and row["not_covered"] and row["mend"], f"{image}, {name}: why, what is not covered, what mends it", str(row))
    return document


document = agrees("@host", ["true"])
run = pinfold("doctor")
is_(run.code, 0, "the text: possible", run)
lines = run.out.decode().splitlines()
like(lines[0], rf"^Pinfold \S+ on Linux {os.uname().release}, uid {UID}$", "who and where")
ok(not any(line != line.rstrip() for line in lines), "no blanks at the end of a line")
unlike(run.out.decode(), "\033", "no colours where nobody looks")
for row in document["guarantees"]:
    at = [i for i, line in enumerate(lines) if line.split()[:2] == [row["state"], row["name"]]]
    is_(len(at), 1, f"{row['name']}: once, with its state")
    said = []
    for line in lines[at[0] + 1:] if at else []:
        if not line.startswith(" "):
            break
        said.append(line.strip().split(":")[0])
    is_(said, [] if row["state"] == "enforced" else ["because", "not covered", "to mend it"], f"{row['name']}: and with what there is to say")
    ok(row["by"] in lines[at[0]], f"{row['name']}: by what", lines[at[0]])

groups = next(row for row in document["guarantees"] if row["name"] == "groups")
if groups["state"] == "degraded":
    like(groups["not_covered"], r"files of the image that such a group alone may read are readable", "groups: what an image's readers must know")

# What the caller brings along counts.
document, run = doctor(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
core = next(row for row in document["guarantees"] if row["name"] == "core")
ok(core["state"] == ("enforced" if core["value"] == "1" else "degraded"), "a caller's hard limit of 0 on core files", str(core))

# Where nothing can be run it says so and fails.
document, run = doctor("/nonexistent/image")
is_((run.code, document["possible"], document["status"], document["stage"], document["guarantees"]), (125, False, "refused", "image", []), "an image that is not there", run)
like(document["message"], r"/nonexistent/image", "by its name")
run = pinfold("doctor", "/nonexistent/image")
is_(run.code, 125, "the text too", run)
like(run.out.decode(), r"(?s)A sandbox cannot be run here.*refused in image: .*/nonexistent/image", "with the reason")
document, run = doctor("nosuch")
is_((run.code, document["possible"], document["stage"], document["kernel"]), (125, False, "image", os.uname().release), "a name that nothing has: a report as well", run)
run = pinfold("doctor", "@host", "more")
is_((run.code, run.out), (125, b""), "a word too many is refused", run)
run = pinfold("doctor", "--jsno")
is_((run.code, run.out), (125, b""), "an unknown option is refused", run)
like(run.err.decode(), r"--jsno.*usage", "by its name, with what there is")
# ---- colour: on a terminal, unless NO_COLOR has something in it ----
for value, coloured in ((None, True), ("", True), ("1", False)):
    master, slave = pty.openpty()
    said = b""
    with start("doctor", stdout=slave, env={} if value is None else {"NO_COLOR": value}) as running:
        os.close(slave)
        try:
            while more := os.read(master, 65536):
                said += more
        except OSError:  # its end
            pass
        run = running.wait()
    os.close(master)
    is_(b"\x1b[" in said, coloured, f"NO_COLOR={value}", run)
done()
