#!/usr/bin/python3
"""docs/embedding.md shows the files that the other embedding tests run, byte for byte, and names nothing that is not there."""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import ROOT, done, is_, load_schema, ok, pinfold

checked = subprocess.run([os.path.join(ROOT, "scripts/embedding"), "--check"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
is_((checked.returncode, checked.stdout), (0, ""), "the code on the page is that of examples/embed")
with open(os.path.join(ROOT, "docs/embedding.md"), encoding="utf-8") as file:
    page = file.read()
prose = re.sub(r"^```\w+$.*?^```$", "", page, flags=re.S | re.M)
known = pinfold("run", "--help").out.decode()
is_([flag for flag in sorted(set(re.findall(r"--[a-z][a-z-]+", prose))) if flag not in known and flag not in ("--spec",)], [], "every option on it is one")
statuses = load_schema("result").schema["properties"]["status"]["enum"]
is_([word for word in ("refused", "setup-failed", "lost", "cancelled") if word not in statuses], [], "every status too")
failures = re.findall(r"^\| ([a-z][a-z, -]+) \|", prose, re.M)
names = [name for row in failures for name in row.split(", ") if name not in ("failure", "null")]
for code in "python/embed.py", "node/embed.js", "c/embed.c", "csharp/Embed.cs":
    with open(os.path.join(ROOT, "examples/embed", code), encoding="utf-8") as file:
        text = file.read()
    is_([name for name in names if f'"{name}"' not in text], [], f"{code} has every failure of the table")
for link in re.findall(r"\]\(([^)#]+)\)", prose):
    ok(os.path.exists(os.path.join(ROOT, "docs", link)), f"{link} is there")
# The words of the last block but one are taken, up to the image.
words = re.search(r"^pinfold run --id job.*?^```", prose, re.S | re.M)[0]
line = [re.split(r"\s{3,}", part.strip())[0] for part in words.replace("pinfold run", "").strip("`\n").split("\n")]
flags = [word.strip("'") for part in line for word in re.findall(r"'[^']*'|\S+", part)]
flags = flags[:flags.index("IMAGE")]
for skip, value in (("--require", None), ("--audit", None), ("--input", None), ("--artifacts-dir", None)):
    at = flags.index(skip)
    del flags[at:at + 2]
explained = pinfold("explain", *[flag for flag in flags], "--artifacts-dir", "/var/tmp/none-there-yet", "@host", "/bin/true")
is_(explained.code, 0, "its options are taken together", explained)
is_(json.loads(json.dumps(names)), names, "and the table was found: " + " ".join(names))
ok(len(names) >= 6, "all of it")
done()
