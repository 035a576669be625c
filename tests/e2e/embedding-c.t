#!/usr/bin/python3
"""The example of docs/embedding.md for C folds every end of a run into one outcome."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from embed import holds
from pf import ROOT, is_, tmpdir

folder = os.path.join(ROOT, "examples/embed/c")
program = os.path.join(tmpdir("root"), "embed")
built = subprocess.run(["cc", "-std=gnu17", "-Wall", "-Wextra", "-Werror", "-O2", "-o", program, os.path.join(folder, "embed.c"), os.path.join(folder, "main.c"), "-ljansson", "-pthread"],
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
is_((built.returncode, built.stdout), (0, b""), "it compiles without a warning")
holds([program])
