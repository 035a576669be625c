import os
import builtins

getattr(os, 'sys' + 'tem')("id")  # FIND: python.process
getattr(os, "".join(["po", "pen"]))("id")  # FIND: python.reflection
getattr(builtins, "ev" "al")("1")  # FIND: python.dynamic-code
__import__('os').system("id")  # FIND: python.process
__import__('sub' + 'process').run(["id"])  # FIND: python.process
vars(os)["system"]("id")  # FIND: python.process
os.__dict__["popen"]("id")  # FIND: python.process python.dynamic-code
