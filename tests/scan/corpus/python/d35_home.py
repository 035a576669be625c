from pathlib import Path
import os
import shutil

key = (Path.home() / ".ssh" / "id_rsa").read_text()  # FIND: python.outside-file
shutil.copy("/etc/passwd", "here")  # FIND: python.outside-file
with open(os.path.expanduser("~/.aws/credentials")) as f:  # FIND: python.outside-file
    print(f.read())
print(Path("/proc/self/environ").read_bytes())  # FIND: python.outside-file
