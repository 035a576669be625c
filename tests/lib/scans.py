"""Trees to scan, and what `pinfold scan` says of them.

    from scans import *
    run = scan({"a.py": b"eval(x)"})            # a Run; run.sarif is its document, run.found its findings
    is_(run.found, [("a.py", 1, "python.dynamic-code")], "...")
"""
import json
import os
import subprocess

from pf import BUILD, account, pinfold, staged, tmpdir, WHO

import sarif_rules

__all__ = ["tree", "scan", "scan_text", "found", "results"]


def tree(files):
    """A folder with these files, which belongs to who runs the scan: bytes, or ("link", target)."""
    folder = tmpdir()
    for name, content in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if isinstance(content, tuple):
            os.symlink(content[1], path)
            continue
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
    entry = account(WHO)
    if entry:
        subprocess.run(["chown", "-Rh", f"{entry.pw_uid}:{entry.pw_gid}", folder], check=True)
    return folder


def _ready():
    """The rules lie beside the programs."""
    staged(os.path.join(BUILD, "share"))


def results(document):
    return [result for run in document["runs"] for result in run["results"]]


def found(document):
    """(path, line, id) of each finding; line 0 is the file as a whole."""
    rows = []
    for result in results(document):
        place = result["locations"][0]["physicalLocation"] if result["locations"] else {"artifactLocation": {"uri": ""}}
        rows.append((place["artifactLocation"]["uri"], place.get("region", {}).get("startLine", 0), result["ruleId"]))
    return rows


def scan(where, *options, **how):
    """As SARIF, which is held against the standard's rules."""
    _ready()
    run = pinfold("scan", "--format", "sarif", *options, tree(where) if isinstance(where, dict) else where, **how)
    run.sarif = json.loads(run.out) if run.out else None
    if run.sarif:
        wrong = sarif_rules.complaints(run.sarif)
        if wrong:
            raise ValueError("no valid SARIF: " + "; ".join(wrong[:5]))
        run.found = found(run.sarif)
    return run


def scan_text(where, *options, **how):
    _ready()
    return pinfold("scan", *options, tree(where) if isinstance(where, dict) else where, **how)
