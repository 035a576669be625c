#!/usr/bin/python3
"""`pinfold --version` names the program and its version, and nothing else is needed for it."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

run = pinfold("--version")
is_(run.code, 0, "exit code 0")
like(run.out, rb"\Apinfold \d+\.\d+\.\d+\n\Z", "one line: the name and the version")
is_(run.err, b"", "nothing on stderr")

result = pinfold("run", tiny(), "/bin/payload", "exit", "0").result
is_(result["host"]["pinfold"], run.out.split()[1].decode(), "a result names the same version")
done()
