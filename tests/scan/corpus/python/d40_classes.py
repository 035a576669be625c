import code
import subprocess
from importlib import import_module as load


class Runner:
    def __init__(self, run=subprocess.run):
        self.run = run
        self.go = lambda c: subprocess.Popen(c)  # FIND: python.process

    def __call__(self, c):
        return self.run(c)  # FIND: python.process


load("os").execv("/bin/sh", ["sh"])  # FIND: python.process
code.InteractiveConsole().interact()  # FIND: python.dynamic-code
with subprocess.Popen(["id"]) as p:  # FIND: python.process
    pass
