#!/usr/bin/python3
"""The key table is the only truth about options: the JSON Schema of a spec, the manual pages and --help say
the same, and what the parser takes the schema takes."""
import base64
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import BUILD, ROOT, done, is_, load_schema, ok

DOCUMENTS = os.path.join(BUILD, "tests/documents")


def output(*command, **more):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **more).stdout


def page(name):
    """A manual page, the escapes of its macros undone."""
    with open(os.path.join(ROOT, "docs/man", name), encoding="utf-8") as file:
        return file.read().replace("\\-", "-").replace("\\(dq", '"').replace("\\fR", "").replace("\\fI", "")


table = json.loads(output(DOCUMENTS, "table"))
keys = {k["name"]: k for k in table["keys"]}
schema = load_schema("spec").schema["properties"]

# ---- the schema of a spec ----
is_(sorted(schema), sorted({k["object"] or n for n, k in keys.items()} | {"image", "command"}), "the schema has exactly the keys of the table")
for parent in {k["object"] for k in keys.values()} - {""}:
    is_(sorted(schema[parent]["properties"]), sorted(k["member"] for k in keys.values() if k["object"] == parent), f"{parent}: its members too")


def described(key):
    """What the schema says of it."""
    return schema[key["object"]]["properties"][key["member"]] if key["object"] else schema[key["name"]]


def spec_with(name, value):
    """A spec with that key alone."""
    key = keys.get(name)
    return {key["object"]: {key["member"]: value}} if key and key["object"] else {name: value}


def schema_default(key):
    default = described(key)["default"]
    if key["type"] in ("env", "require", "allow", "input", "artifact"):
        return None if default == [] else default
    return {False: "false", True: "true"}.get(default, default)


is_({n: schema_default(k) for n, k in keys.items()}, {n: k["default"] for n, k in keys.items()},
    "defaults in the schema are the table's")
is_({n: described(k)["enum"] for n, k in keys.items() if k["type"] == "enum"},
    {n: k["words"] for n, k in keys.items() if k["type"] == "enum"}, "so are the words")


def takes(name, value):
    return load_schema("spec").is_valid(spec_with(name, value))


for name, key in keys.items():
    if key["type"] not in ("size", "time", "count", "cpus"):
        continue
    is_(takes(name, "none"), key["none"], f"{name}: none can be said if the limit can be lifted")
    if key["type"] == "time":
        ok(takes(name, "1.5ms") and not takes(name, 1) and not takes(name, "1"), f"{name}: a time has a unit")
        continue
    number = float if key["type"] == "cpus" else int
    low, high, step = number(key["min"]), number(key["max"]), 0.001 if number is float else 1
    ok(takes(name, low) and not takes(name, low - step), f"{name}: the least is the table's")
    if high < 2**63 - 1:
        ok(takes(name, high) and not takes(name, high + step), f"{name}: the most is the table's")

# ---- what the parser takes, the schema takes; and nothing else ----
def tagged(text):
    return {"encoding": "base64", "data": base64.b64encode(text).decode()}


VALUES = [None, True, False, 0, 1, -1, 0.5, 1.5, 4, 100, 1000, 65535, 65536, 1 << 20, 1 << 40, 5000000000, 1.0, 100.0, 1048576.0, 0.0,
          1048575, 15, 16, 3, 0.01, 0.009, 8192, 8193, [], {}, "", "x", "none", "null", "-", "0", "00", "1", "01", "3", "4", "15", "16", "99",
          "65535", "65536", "1048575", "1048576", "2000000", "9999999", "0.5", "0.01", "0.009", "0.0", "00.5", "1.25", "1.2345", "64M", "64m",
          "1.5G", "1.5", "1023K", "1023.999K", "1024K", "63K", "63.999K", "64K", "64.5K", "100K", "0.062M", "0.063M", "0.07M", "0.999M", "1.0M",
          "0.001G", "0.0001G", "0.000T", "0.001T", "0K", "0.001K", "1.2345G", "64MB", "1 M", " 1M", "500ms", "2s", "10", "0s", "0.000h",
          "0.000000001s", "0.0000000001s", "1ns", "0.5ns", "0.001us", "0.0005us", "1.000001ms", "1.0000001ms", "-1", "1e3", "+1", "0x10",
          "true", "low", "normal", "auto", "range", "own", "outer", "never", "missing", "kill", "wait", "fd:3", "fd:", "fd:x", "fd:-1", "./fd:x", "/", "/a", "a b",
          "a-b", "-a", "a-", "a.b.c", "a..b", "a_b", "A=1", ["A=1"], ["A=1", "B="], ["A"], ["="], ["1A=x"], ["A=a\0b"], ["memory"],
          ["memory,pids", "all"], ["cgroup"], ["memory,"], [",memory"], ["memory,frob"], ["nonsense"], [""], [1], [None], ["a\0b"], "a\0b", "/a\0b",
          tagged(b"\xff"), tagged(b"memory"), tagged(b""), [tagged(b"A=\xff")], [tagged(b"memory")], [tagged(b"")], {"encoding": "hex", "data": "00"},
          {"encoding": "base64"}, {"encoding": "base64", "data": "/w"}, {"encoding": "base64", "data": 1}, "@host", "@x", "@", "x@", "./x",
          ["a.example:443"], ["*.A-b.example.:80,443,8000-8010", "10.0.0.0/8:1"], ["private:udp:[::1]:53"], ["a.example"], ["a.example:0"],
          ["a..example:1"], ["https://a.example/"], ["a_b.example:1"], ["a.example:1-"], ["a.example:1 "], ["\u00e4.example:1"], ["x" * 2049],
          ["a" * 64 + ".example:1"], ["1.2.3.4/100:1"], ["[::/1000]:1"], ["tcp:udp:a.example:1"],
          ["a", ""], ["a", tagged(b"\xff")], "x" * 63, "x" * 64, "x" * 65, "x" * 4095, "x" * 4096, "/" + "x" * 4095, *table["guarantees"]]
names = [*schema, *(n for n, k in keys.items() if k["object"])]
cases = [(name, value) for name in names for value in VALUES]
specs = [spec_with(*case) for case in cases]
answers = output(DOCUMENTS, "check", input="".join(json.dumps(s) + "\n" for s in specs)).splitlines()
is_(len(answers), len(specs), "the parser answers every spec")
judge = load_schema("spec")
is_([s for s, answer in zip(specs, answers) if answer == "ok" and not judge.is_valid(s)], [], "the schema takes every spec that the parser takes")
ok(all(any(of == name for (of, _), answer in zip(cases, answers) if answer == "ok") for name in names), "and that is something for every key")


def beyond(name, value):
    """What the description of the schema says that it cannot say."""
    is_text = isinstance(value, str)
    return (is_text and value.isdigit() and name in keys and keys[name]["type"] == "count" and int(value) > int(keys[name]["max"])) \
        or value in (tagged(b"\xff"), tagged(b"memory")) and name == "workdir" \
        or value == [tagged(b"memory")] and name == "env" \
        or is_text and name == "cpus" and value.isdigit() and int(value) > 8192


is_([case for case, s, answer in zip(cases, specs, answers) if answer != "ok" and judge.is_valid(s) and not beyond(*case)], [],
    "the schema refuses what the parser refuses, but for what a schema cannot say")
ok(all(re.match(r"-:1:\d+: ", answer) for answer in answers if answer != "ok"), "every refusal has its place")
is_(sorted(re.findall(r"[a-z-]+", schema["require"]["items"]["pattern"].partition(")(")[0])), sorted(["all", "cgroup", *table["guarantees"]]),
    "the schema has every name for require")

# ---- pinfold-spec(5) ----
entries = re.findall(r'^\.TP\n\.BR (\S+) " \((.*)\)"$', page("pinfold-spec.5"), re.M)
is_([name for name, _ in entries], ["image", "command", *keys], "pinfold-spec(5) has every key, in the order of the table")
for name, about in entries:
    if name in keys:
        default = keys[name]["default"]
        want = "not given by default" if default is None else f"default {default}"
        is_(about.rpartition("; ")[2], want, f"pinfold-spec(5): the default of {name}")
        for word in keys[name]["words"]:
            ok(re.search(rf"\b{word}\b", about), f"pinfold-spec(5): {name} may be {word}")

# ---- --help and the options of pinfold-run(1) ----
text = output(os.path.join(BUILD, "gen/spec-text"), "help")
shown = dict(re.findall(r"^  --(\S+)((?: \S+)?)(?=$|  )", text, re.M))
is_({n: p.strip() for n, p in shown.items() if n in keys}, {n: k["placeholder"] for n, k in keys.items()},
    "--help shows every key with its placeholder")
for name, key in keys.items():
    paragraph = re.search(rf"^  --{name}[ \n](.*?)(?=^  -|^\S|\Z)", text, re.M | re.S)[1]
    default = re.search(r"\[([^\]]*)\]\s*\Z", paragraph)
    is_(default and default[1], None if key["type"] == "bool" else key["default"], f"--help: the default of {name}")
is_([line for line in text.splitlines() if len(line) > 80], [], "no line of --help is longer than 80 columns")
options = output(os.path.join(BUILD, "gen/spec-text"), "man").replace("\\-", "-")
is_(re.findall(r"^\.B --(\S+)", options, re.M), list(keys), "pinfold-run(1) has every option")

# ---- pinfold-result(5) and the schemas of result and event ----
result = load_schema("result").schema
is_(sorted(result["properties"]["status"]["enum"]), sorted(table["statuses"]), "the schema has every status")
is_([g["properties"]["name"]["const"] for g in result["properties"]["guarantees"]["prefixItems"]], table["guarantees"],
    "the schema has every guarantee, in order")
manual = page("pinfold-result.5")
sections = dict(re.findall(r"^\.SH (.*?)\n(.*?)(?=^\.SH|\Z)", manual, re.M | re.S))
tags = {name: re.findall(r"^\.TP\n\.BR? (.*)$", body, re.M) for name, body in sections.items()}
is_([t.split()[0] for t in tags["MEMBERS"]], result["required"], "pinfold-result(5) has every member, in order")
is_(sorted(t.split()[0] for t in tags["STATUS"]), sorted(table["statuses"]), "and every status")
is_([n for t in tags["GUARANTEES"] for n in t.replace('", "', " ").replace('"', " ").replace(",", " ").split()],
    table["guarantees"], "and every guarantee, in order")
usage = [n for t in tags["USAGE"] for n in re.sub(r"\{.*", "", t.replace('"', " ").replace(",", " ")).split()]
is_(usage, result["$defs"]["usage"]["required"], "and every figure of the usage")
is_(tags["EVENTS"], load_schema("event").schema["properties"]["event"]["enum"], "and every event")
done()
