import importlib
import sys

module = importlib.import_module(sys.argv[1])  # FIND: python.reflection
__import__("os").system("id")  # FIND: python.process
importlib.import_module("subprocess").run(["id"])  # FIND: python.process
