from os import popen as read
from subprocess import check_output as out, Popen

print(read("uname -a").read())  # FIND: python.process
print(out(["id"]))  # FIND: python.process
child = Popen(["sleep", "1"])  # FIND: python.process
