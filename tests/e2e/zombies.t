#!/usr/bin/python3
"""pid 1 of the sandbox reaps every orphan, and none of its own children is left to the host."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

run = pinfold("run", "--pids", "64", tiny(), "/bin/payload", "orphans", "300", ",", "count-zombies", "20")
is_(run.out, b"orphans 300\nzombies-left 0\n", "300 orphans, no zombie, with room for 64 tasks", run)
is_((run.status, run.code), ("exited", 0), "exited", run)

# Zombies of a living parent are its own affair, and go with it.
run = pinfold("run", tiny(), "/bin/payload", "zombies", "100", ",", "exit", "4")
is_((run.out, run.code), (b"zombies 100 -\n", 4), "100 zombies that their parent keeps", run)
done()
