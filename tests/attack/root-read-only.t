#!/usr/bin/python3
"""FS01: nothing in the image can be made, changed or removed, though the program owns every file of it."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from attack import *
from pf import done

table = {f"FS01.{name}": "EROFS" for name in (
    "create-root", "create-usr", "create-etc", "create-dev", "tmpfile", "append", "append-passwd", "chmod", "fchmod",
    "chmod-root", "chown", "utimes", "setxattr", "truncate", "rename", "exchange", "link", "unlink", "rmdir", "mkdir",
    "symlink", "mkfifo")}
# The filter lets no inode flag be set, wherever the file is.
table["FS01.setflags"] = "ENOTTY|EROFS"
# where it is laid over the image's, it is inner root's
table["FS01.append-passwd"] = "EROFS|EACCES"

overlay = probe_image()
controls = weak(overlay, table)
attack(table, overlay, controls=controls, title="skeleton over the image: ")
attack(table, probe_image(targets=True), controls=controls, title="image bound: ")
done()
