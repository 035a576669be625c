import atexit
import os
from functools import partial


@atexit.register
def bye():
    os.execv("/bin/sh", ["sh"])  # FIND: python.process


@eval  # FIND: python.dynamic-code
def text():
    pass


go = partial(os.system, "id")  # FIND: python.process
go()  # FIND: python.process
