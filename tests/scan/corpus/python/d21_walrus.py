import os

if (run := os.system):
    run("id")  # FIND: python.process


def later(do=os.popen):
    return do("id")  # FIND: python.process
