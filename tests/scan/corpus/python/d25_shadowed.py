class os:
    pass


def subprocess():
    pass


import os
import subprocess

os.system("id")  # FIND: python.process
subprocess.run(["id"])  # FIND: python.process
