import json
import tempfile
from pathlib import Path

here = Path(__file__).parent
settings = json.loads((here / "settings.json").read_text())
with tempfile.TemporaryDirectory() as folder:
    (Path(folder) / "etc" / "passwd.txt").parent.mkdir()
routes = {"/etc/": "settings", "/root": "home"}
print(settings, routes, "/proc is a file system")
