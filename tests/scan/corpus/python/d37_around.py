import os
import sys
import subprocess

sys.modules["os"].system("id")  # FIND: python.process
os.system.__call__("id")  # FIND: python.process
globals()["ev" + "al"]("1")  # FIND: python.dynamic-code
load = __import__
load("os").popen("id")  # FIND: python.process
take = getattr
take(os, "system")("id")  # FIND: python.process
table = {"go": os.system, "run": [subprocess.run]}  # FIND: python.process python.process


class A:
    run = staticmethod(os.popen)  # FIND: python.process

    def f(self):
        self.run("id")  # FIND: python.process


print(list(map(eval, ["1"])), (exec, 1))  # FIND: python.dynamic-code python.dynamic-code
