import os
from pathlib import Path

with open("out/result.txt", "w") as file:
    file.write("x")
os.makedirs("out/plots", exist_ok=True)
Path("data") / "x.csv"
open("/tmp/scratch.txt", "w").close()
open("/dev/null", "w").close()
