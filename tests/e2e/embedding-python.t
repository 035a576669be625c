#!/usr/bin/python3
"""The example of docs/embedding.md for Python folds every end of a run into one outcome."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from embed import holds
from pf import ROOT, staged

holds(["/usr/bin/python3", staged(os.path.join(ROOT, "examples/embed/python/embed.py"))])
