#!/usr/bin/python3
"""Events tell of a connection when it begins and of what is denied when it is, and however often a program repeats itself, of what is new."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet, echo
from pf import *

CHANGES = 2000  # docs/egress.md
KINDS = 120  # of each of two: that many rows
# Denied names and connections without a word, over and over, until it is told to do something else.
REPEAT = f"""
import socket, sys, select
allowed = [socket.gethostbyname(f"n{{i}}.files.example") for i in range({KINDS})]
while not select.select([sys.stdin], [], [], 0)[0]:
    for i, address in enumerate(allowed):
        try: socket.gethostbyname(f"n{{i}}.evil.example")
        except OSError: pass
        with socket.create_connection((address, 443)): pass
s = socket.create_connection(("echo.example", 9000)); s.sendall(b"x"); s.recv(1)
"""
# One connection, one denied name and one denied connection; all of it is still so when it is told to end.
BEGIN = """
import socket, sys
s = socket.create_connection(("echo.example", 9000)); s.sendall(b"four"); s.recv(4)
try: socket.gethostbyname("evil.example")
except OSError: pass
d = socket.create_connection(("198.18.0.9", 9000))
print("there", flush=True)
sys.stdin.readline()
s.sendall(b"four"); s.recv(4)
"""


def told(events, wanted):
    """The rows of egress events, until those of `wanted` (name, verdict) were there."""
    rows, missing = [], set(wanted)
    for event in map(json.loads, events):
        if event["event"] == "egress":
            rows.append(event["egress"])
            missing.discard((rows[-1]["name"], rows[-1]["verdict"]))
        if not missing:
            break
    return rows


with Internet() as net:
    net.dns.names["echo.example"] = ["93.184.216.24"]
    net.listen("93.184.216.24", 9000, echo)
    reader, writer = os.pipe()
    with net.start("run", "--allow", "echo.example:9000", "--events", f"fd:{writer}", "--stdin", "-", "@host", "/usr/bin/python3", "-S", "-c", BEGIN,
                   stdin=subprocess.PIPE, pass_fds=(writer,)) as running, os.fdopen(reader, encoding="utf-8") as events:
        os.close(writer)
        # The program does not end before it is told to, and it is told when these are there.
        rows = told(events, {("echo.example", "allowed"), ("evil.example", "denied"), (None, "denied")})
        is_(sorted((row["name"] or row["address"], row["verdict"], row["count"]) for row in rows),
            [("198.18.0.9", "denied", 1), ("echo.example", "allowed", 1), ("evil.example", "denied", 1)], "each is told while the program is at it")
        is_([(row["sent_bytes"], row["received_bytes"]) for row in rows if row["verdict"] == "allowed"], [(0, 0)], "a connection that goes on has its bytes when it ends")
        running.process.stdin.write(b"\n")
        running.process.stdin.close()
        running.process.stdin = None  # wait() would write to it
        last = [row for row in told(events, {("nobody", "")}) if row["name"] == "echo.example"]
        is_([(row["count"], row["sent_bytes"], row["received_bytes"]) for row in last], [(1, 8, 8)], "and is told once more then")
        run = running.wait()
        is_([(row["count"], row["sent_bytes"]) for row in run.result["egress"] if row["verdict"] == "allowed"], [(1, 8)], "the result has it once", run)
    reader, writer = os.pipe()
    with net.start("run", "--allow", "*.files.example:443", "--allow", "echo.example:9000", "--events", f"fd:{writer}", "--stdin", "-", "@host",
                   "/usr/bin/python3", "-S", "-c", REPEAT, stdin=subprocess.PIPE, pass_fds=(writer,)) as running, \
            os.fdopen(reader, encoding="utf-8") as events:
        os.close(writer)
        new, changes = set(), 0
        for row in (event["egress"] for event in map(json.loads, events) if event["event"] == "egress"):
            key = (row["name"], row["verdict"], row["reason"], row["errno"])
            changes += key in new
            new.add(key)
            if changes == CHANGES:
                break
        is_(changes, CHANGES, "a program that repeats itself changes its rows, and events tell")
        running.process.stdin.write(b"\n")
        running.process.stdin.close()
        running.process.stdin = None  # wait() would write to it
        rest = [event["egress"] for event in map(json.loads, events) if event["event"] == "egress"]
        is_([row["count"] for row in rest if row["name"] == "echo.example"], [1], "what is new is told when nothing else is any more")
        is_([row["name"] for row in rest if (row["name"], row["verdict"], row["reason"], row["errno"]) in new], [], "no row that was there before")
        run = running.wait()
        is_(run.status, "exited", "it ends", run)
done()
