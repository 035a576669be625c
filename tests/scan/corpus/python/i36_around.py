import sys
from functools import partial

handlers = {"eval": len, "system": print}
run = partial(print, "os.system")
run(vars(handlers.__class__).keys(), globals().get("eval"), sys.modules["json"])
name = "rows"
print(getattr(handlers, "keys")(), globals()[name] if name in globals() else [handlers["system"]])
