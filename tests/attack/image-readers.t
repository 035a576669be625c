#!/usr/bin/python3
"""FS22: a run cannot watch, hold or signal the other readers of its image."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from attack import *
from pf import done

# flock and F_SETLK stay: sqlite, cargo and others need them. They are a documented covert channel.
attack({"FS22.lease": "EPERM", "FS22.dnotify": "EPERM", "FS22.fanotify": "EPERM", "FS22.setown": "EPERM"})
done()
