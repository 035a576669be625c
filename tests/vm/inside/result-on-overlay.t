#!/usr/bin/python3
"""The result is written whole on an overlay too, where Linux before 6.3 has no O_TMPFILE: a container's root is one."""
from guest import *

with open("/proc/mounts", encoding="utf-8") as mounts:
    ok(any(line.split()[1:3] == ["/", "overlay"] for line in mounts), "the root is an overlay")
folder = os.path.join("/home/tester", "results")
os.mkdir(folder)
path = os.path.join(folder, "result.json")
for turn in ("new", "replaced"):
    run = pinfold("run", "--result", path, eater(), "/bin/true", result=False)
    is_(run.code, 0, f"{turn}: it runs", str(run))
    with open(path, "rb") as file:
        is_(pf.parse(file.read(), "result")["status"], "exited", f"{turn}: the document is there")
    is_(os.listdir(folder), ["result.json"], f"{turn}: and nothing else")
done()
