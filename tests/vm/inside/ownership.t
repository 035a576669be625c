#!/usr/bin/python3
"""As root the image is idmapped: its owners are seen as they are on ext4, and as 65534 where it cannot be."""
from guest import *

if AS != "root":
    skip_all("needs root to map ids")
if not DISK:
    skip_all("no disk in this guest")

tree = image({"bin/stat": ("copy", "/bin/busybox"), "of/zero": b"", "of/thousand": b""}, disk_folder("owners"))
os.chown(os.path.join(tree, "of/thousand"), 1000, 1000)
command = ["/bin/stat", "-c", "%u:%g", "/of/zero", "/of/thousand"]
run = pinfold("run", tree, *command)
is_(run.out, b"0:0\n1000:1000\n", "ext4: owners are the image's", str(run))
is_(run.guarantee("ownership")["state"], "enforced", "ext4: and the ledger says so")

# The root of the guest is an overlay; where tests keep things is a tmpfs, which newer kernels do map.
place = "/srv/overlay-image"
os.mkdir(place)
tree = image({"bin/stat": ("copy", "/bin/busybox"), "of/zero": b"", "of/thousand": b""}, place)
os.chown(os.path.join(tree, "of/thousand"), 1000, 1000)
run = pinfold("run", tree, *command)
is_(run.out, b"65534:65534\n65534:65534\n", "overlay: owners cannot be mapped", str(run))
row = run.guarantee("ownership")
is_(row["state"], "degraded", "overlay: and the ledger says so", str(row))
done()
