import importlib.util
import marshal
import shelve
import types
import runpy

spec = importlib.util.spec_from_file_location("m", "/tmp/m.py")  # FIND: python.reflection
code = marshal.loads(open("x.bin", "rb").read())  # FIND: python.dynamic-code
types.FunctionType(code, {})()  # FIND: python.dynamic-code
runpy.run_path("other.py")  # FIND: python.dynamic-code
with shelve.open("store") as store:  # FIND: python.deserialize
    print(store["a"])
