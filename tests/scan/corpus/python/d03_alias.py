import os as o


def clean(folder):
    o.system("rm -rf " + folder)  # FIND: python.process
