import os

name = "sys" + "tem"
run = getattr(os, "sys" + "tem")
run("id")  # FIND: python.process
getattr(os, input())("id")  # FIND: python.reflection
