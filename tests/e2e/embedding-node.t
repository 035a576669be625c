#!/usr/bin/python3
"""The example of docs/embedding.md for Node.js folds every end of a run into one outcome."""
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from embed import holds
from pf import ROOT, skip_all, staged

node = shutil.which("node")
if not node:
    skip_all("no node on this machine")
holds([node, staged(os.path.join(ROOT, "examples/embed/node/embed.js"))])
