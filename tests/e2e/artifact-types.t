#!/usr/bin/python3
"""An artifact's type is looked at in a jailed child: what is not of it is rejected with the place, and never stored."""
import json
import os
import struct
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

source = tmpdir()


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


PNG = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)) + \
    chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b"")
FILES = {
    "good.json": (b'{"a": [1, -0.5e3, "\\u00e9\\ud83d\\ude00", null, true]}', "json", None),
    "twice.json": (b'{"a": 1,\n "\\u0061": 2}', "json", "line 2, column 2: this key is there already"),
    "deep.json": (b"[" * 100000 + b"]" * 100000, "json", "nested deeper than 64"),
    "many.json": (b"[" + b"0," * 2100000 + b"0]", "json", "more values than"),
    "latin.json": (b'"\xe9"', "json", "not UTF-8"),
    "nan.json": (b"[NaN]", "json", "a value belongs here"),
    "tail.json": (b"{} x", "json", "behind the document"),
    "empty.json": (b"", "json", "a value belongs here"),
    "good.csv": (b'a,b\r\n"x ""y"", z\n",2\n', "csv", None),
    "ragged.csv": (b"a,b\n1,2\n1,2,3\n", "csv", "record 3 has 3 fields, the first has 2"),
    "open.csv": (b'a,"b\n', "csv", "does not end"),
    "wide.csv": (b"," * 5000, "csv", "more than 4096 fields"),
    "good.txt": ("héllo\n\tworld\n".encode(), "text", None),
    "escape.txt": (b"ok\n\x1b[2J", "text", "line 2"),
    "nul.txt": (b"a\0b", "text", "control character (0x00)"),
    "good.png": (PNG, "png", None),
    "crc.png": (PNG.replace(b"IDAT", b"IDAT", 1)[:-16] + b"\0" + PNG[-15:], "png", "CRC"),
    "cut.png": (PNG[:-12], "png", "without IEND"),
    "tail.png": (PNG + b"<script>", "png", "behind IEND"),
    "bomb.png": (PNG[:8] + chunk(b"IHDR", struct.pack(">IIBBBBB", 65535, 65535, 16, 6, 0, 0, 0)) + PNG[33:], "png", "65535 by 65535"),
    "good.elf": (open("/bin/sh", "rb").read(), "elf", None),
    "cut.elf": (open("/bin/sh", "rb").read()[:4000], "elf", "not in the file"),
    "text.elf": (b"#!/bin/sh\n", "elf", "no ELF"),
    "any": (b"\0\xff\x1b", "any", None),
}
for name, (data, kind, why) in FILES.items():
    with open(os.path.join(source, name), "wb") as file:
        file.write(data)
out = os.path.join(tmpdir(), "out")
flags = [word for name, (_, kind, _) in FILES.items() for word in ("--artifact", f"{name}:type={kind}")]
run = pinfold("run", "--input", source + ":.", *flags, "--artifacts-dir", out, tiny(), "/bin/payload", "exit", "0")
rows = {row["path"]: row for row in run.result["artifacts"]}
for name, (data, kind, why) in FILES.items():
    row = rows[name]
    if why is None:
        is_((row["status"], row["type"]), ("kept", kind), f"{name} is kept", str(row))
        with open(os.path.join(out, row["file"]), "rb") as file:
            ok(file.read() == data, "byte for byte")
    else:
        ok(row["status"] == "rejected" and row["file"] is None and row["reason"].startswith(f"not {kind}: ") and why in row["reason"], f"{name}: {why}", str(row))
is_(sorted(os.listdir(out)), sorted(rows[name]["file"] for name in FILES if FILES[name][2] is None), "what is rejected is not there")

# ---- schemas ----
schema = os.path.join(tmpdir(), "schema.json")


def with_schema(text, document):
    with open(schema, "w", encoding="utf-8") as file:
        file.write(text if isinstance(text, str) else json.dumps(text))
    doc = os.path.join(tmpdir(), "doc.json")
    with open(doc, "w", encoding="utf-8") as file:
        json.dump(document, file)
    return pinfold("run", "--input", doc, "--artifact", f"doc.json:schema={schema}:required", "--artifacts-dir", os.path.join(tmpdir(), "o"),
                   tiny(), "/bin/payload", "exit", "0")


SCHEMA = {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "required": ["score"], "additionalProperties": False,
          "properties": {"score": {"type": "number", "minimum": 0, "maximum": 1}, "tags": {"type": "array", "items": {"type": "string", "maxLength": 3}, "maxItems": 2}}}
run = with_schema(SCHEMA, {"score": 0.5, "tags": ["abc", "äöü"]})
is_((run.result["artifacts"][0]["status"], run.result["ok"]), ("kept", True), "a document that fits its schema", run)
for document, why in (({"score": 2}, "maximum"), ({}, "required"), ({"score": "1"}, "type"), ({"score": 1, "x": 0}, "no such member"),
                      ({"score": 1, "tags": ["abcd"]}, "maxLength"), ({"score": 1, "tags": ["a"] * 3}, "maxItems"), ([], "type")):
    run = with_schema(SCHEMA, document)
    row = run.result["artifacts"][0]
    ok(row["status"] == "rejected" and row["reason"].startswith("does not fit the schema: line 1, ") and why in row["reason"] and not run.result["ok"], f"{json.dumps(document)}: {why}", run)
for text, why in ((dict(SCHEMA, pattern="^a"), "the keyword 'pattern' is not supported"), ('{"$ref": "#"}', "the keyword '$ref' is not supported"), ("{", "a string belongs here"), ('{"type": "strin"}', "no name of a type")):
    run = with_schema(text, {})
    ok(run.status == "refused" and "schema" in run.message and why in run.message, f"a schema that is none refuses the run: {why}", run)
done()
