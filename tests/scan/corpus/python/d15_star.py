from os import *
from subprocess import *

system("id")  # FIND: python.process
check_call(["ls"])  # FIND: python.process
