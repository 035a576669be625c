#!/usr/bin/python3
"""What a program chooses in its artifacts does not choose how long somebody looks at them: keys that would all meet in one
table, a schema's alternatives over a long document, and a signal that ends the look at all of them and not at one."""
import json
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

MASK = (1 << 64) - 1
PRIME = 0x100000001b3


def meeting_keys(count):
    """Keys that FNV-1a, the hash of most simple tables, puts into a sixteenth of one of 131,072 places."""
    letters = [ord(c) for c in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"]
    found, number = [], 0
    while True:
        state, text, rest = 0xcbf29ce484222325, "", number
        for _ in range(3):
            letter = letters[rest % 64]
            rest //= 64
            state, text = (state ^ letter) * PRIME & MASK, text + chr(letter)
        number += 1
        for letter in letters:
            value = (state ^ letter) * PRIME & MASK
            if (value ^ value >> 29) & 0x1ffff < 0x2000:
                found.append(text + chr(letter))
                if len(found) == count:
                    return found


def looked_at(documents, schema=None):
    """The Run, and its rows by path."""
    source = tmpdir()
    for name, document in documents.items():
        with open(os.path.join(source, name), "w", encoding="utf-8") as file:
            json.dump(document, file)
    rule = "*.json:type=json:max=64M"
    if schema is not None:
        with open(os.path.join(source, "schema"), "w", encoding="utf-8") as file:
            json.dump(schema, file)
        rule = f"*.json:max=64M:schema={source}/schema"
    return ["run", "--input", source + ":.", "--artifact", rule, "--artifacts-dir", os.path.join(tmpdir(), "o"), tiny(), "/bin/payload", "exit", "0"]


def rows(run):
    return {row["path"]: (row["status"], row["reason"]) for row in run.result["artifacts"]}


keys = meeting_keys(60000)
run = pinfold(*looked_at({"keys.json": dict.fromkeys(keys, 1)}), timeout=200)
is_(rows(run), {"keys.json": ("kept", None)}, "60,000 keys that meet in a table of hashes are an object like another", run)

for name, last in (("good.json", 1), ("bad.json", "1")):
    run = pinfold(*looked_at({name: [*range(300000), last]}, {"items": {"anyOf": [{"type": "null"}, {"type": "number"}]}}), timeout=200)
    status, reason = rows(run)[name]
    is_((status, (reason or "").rsplit(": ", 1)[-1]), ("kept", "") if last == 1 else ("rejected", "the schema's anyOf does not hold"),
        f"300,000 values of two kinds that a schema allows, the last {'as well' if last == 1 else 'of neither'}", run)

# A schema that is slow by what its author put into it: 40,000 names for each of 40,000 values.
slow = {"items": {"enum": [f"name {n}" for n in range(40000)]}}
document = ["name 39999"] * 40000
with start(*looked_at({f"{n}.json": document for n in range(4)}, slow), events=True) as running:
    wait_for(lambda: os.path.exists(running.events_file) and b'"collect"' in open(running.events_file, "rb").read(), what="the collection")
    wait_for(lambda: len(open(f"/proc/{running.pid}/task/{running.pid}/children", encoding="ascii").read().split()) > 1, what="a validator")
    running.signal(signal.SIGTERM)
    run = running.wait(200)
told = {reason for _, reason in rows(run).values()} - {"it was not read to its end"}
is_(told - {"pinfold was told to stop while it was looked at"}, set(), "a signal ends the look at all artifacts, not at one of them", run)
ok(any("not all artifacts were collected" in text for text in run.result["warnings"]), "which the result says", run)
done()
