import os
import shutil
from pathlib import Path

text = open("/etc/passwd").read()  # FIND: python.outside-file
keys = os.listdir(os.path.expanduser("~/.ssh"))  # FIND: python.outside-file
shutil.copy("result.txt", "/usr/local/bin/result")  # FIND: python.outside-file
Path("../../../outside.txt").write_text("x")  # FIND: python.outside-file
Path.home()  # FIND: python.outside-file
