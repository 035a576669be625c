#!/usr/bin/python3
"""A systemd that makes no scope is a host that gives less: the run goes on with what there is, says so, and --require refuses."""
import os
import shutil
import stat

from guest import *

if BOOT != "systemd":
    skip_all("needs a systemd that could make a scope")

# A pinfold with a sibling that brings no for an answer.
place = tmpdir()
binary = os.path.join(place, "bin/pinfold")
refuser = os.path.join(place, "libexec/pinfold/pinfold-scope")
for path in binary, refuser:
    os.makedirs(os.path.dirname(path))
shutil.copy(program_path(), binary)
with open(refuser, "w", encoding="utf-8") as file:
    file.write("#!/bin/sh\necho 'no: Access denied by the test'\nexec cat\n")
os.chmod(refuser, stat.S_IRWXU | stat.S_IRGRP | stat.S_IXGRP | stat.S_IROTH | stat.S_IXOTH)

run = pinfold("run", eater(), "/bin/true", program=binary)
is_((run.status, run.code), ("exited", 0), "it runs", str(run))
is_(run.guarantee("memory")["state"], "degraded", "without the controllers", str(run.guarantee("memory")))
like("\n".join(run.result["warnings"]), r"no scope: .*Access denied by the test", "and says what systemd said")
run = pinfold("run", "--require", "memory", eater(), "/bin/true", program=binary)
is_((run.status, run.code), ("refused", 125), "--require memory: refused", str(run))
is_(leaves(), [], "nothing is left")
run = pinfold("run", eater(), "/bin/true")
is_(run.guarantee("memory")["state"], "enforced", "control: with a scope it is enforced", str(run.guarantee("memory")))
done()
