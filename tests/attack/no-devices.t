#!/usr/bin/python3
"""FS15, FS16: no device node works, and no file gives a privilege."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from attack import *
from pf import done

for form, targets in (("skeleton over the image: ", False), ("image bound: ", True)):
    attack({
        "FS15.mknod-null": "EPERM", "FS15.mknod-mem": "EPERM", "FS15.mknod-disk": "EPERM", "FS15.mknod-whiteout": "EPERM",
        "FS15.rename-whiteout": "EPERM", "FS15.image-node": "EACCES|ENOENT",
        # the file runs and finds that it has nothing
        "FS16.setuid": "EPERM", "FS16.setgid": "EPERM", "FS16.file-capability": "EPERM",
    }, probe_image(targets=targets), title=form)
done()
