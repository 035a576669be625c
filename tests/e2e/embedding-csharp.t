#!/usr/bin/python3
"""The example of docs/embedding.md for C# (Mono here) folds every end of a run into one outcome."""
import glob
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from embed import holds
from pf import ROOT, is_, skip_all, tmpdir

mono = shutil.which("mono")
if not mono or not shutil.which("mcs"):
    skip_all("no mono on this machine")
program = os.path.join(tmpdir("root"), "embed.exe")
built = subprocess.run(["mcs", "-warnaserror", f"-out:{program}", *sorted(glob.glob(os.path.join(ROOT, "examples/embed/csharp/*.cs")))], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
is_((built.returncode, built.stdout), (0, b""), "it compiles without a warning")
holds([mono, program])
