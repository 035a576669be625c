#!/usr/bin/python3
"""Documents of every kind are valid by the schemas in docs/, by a validator that is no relation of
ours; and the schemas are strict: a document with anything missing, added or of another type is not."""
import copy
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import BUILD, done, is_, load_schema, ok

# Members whose names are data: one more or one less is fine there.
OPEN = {("result", "cause", "evidence"), ("result", "usage", "io")}


def documents():
    text = subprocess.run([os.path.join(BUILD, "tests/documents")], check=True, stdout=subprocess.PIPE).stdout
    ok(max(text) < 0x80, "documents are ASCII, so that no terminal finds orders in them")
    text = text.decode()
    at = 0
    while at < len(text):
        entry, at = json.JSONDecoder().raw_decode(text, at)
        at += 1
        yield entry["of"], entry["label"], entry["document"]


def places(value, path=()):
    yield path, value
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], path + (key,))
    elif isinstance(value, list):
        for index, element in enumerate(value):
            yield from places(element, path + (index,))


def replaced(document, path, change):
    """A copy in which change(parent, last step) was done at path."""
    document = copy.deepcopy(document)
    parent = document
    for step in path[:-1]:
        parent = parent[step]
    change(parent, path[-1])
    return document


def is_valid(of, document):
    return load_schema(of).is_valid(document)


def is_tag(value):
    return isinstance(value, dict) and set(value) == {"encoding", "data"}


def survivors(of, document):
    """Broken variants that the schema takes all the same."""
    def put(value):
        def change(parent, step):
            parent[step] = value
        return change

    def remove(parent, step):
        del parent[step]

    def add(parent, step):
        parent[step]["extra"] = None

    for path, value in places(document):
        inside = (of,) + path
        if of == "event" and "result" in path:
            continue  # judged as a result of its own
        if path:
            if not is_valid(of, replaced(document, path, put({"x": []}))):
                pass
            elif inside not in OPEN:
                yield path, "another type"
            if isinstance(path[-1], str) and inside[:-1] not in OPEN and of != "spec" \
                    and is_valid(of, replaced(document, path, remove)):
                yield path, "missing"
        if isinstance(value, dict) and inside not in OPEN:
            broken = {**document, "extra": None} if not path else replaced(document, path, add)
            if is_valid(of, broken):
                yield path, "extra"


seen = {"result": [], "event": [], "spec": []}
for of, label, document in documents():
    errors = [f"{'/'.join(map(str, e.path))}: {e.message}" for e in load_schema(of).iter_errors(document)]
    is_(errors, [], f"{of}, {label}: valid")
    is_(list(survivors(of, document)), [], f"{of}, {label}: broken variants are not valid")
    seen[of].append(document)
    if of == "event" and document["event"] == "ended":
        ok(is_valid("result", document["result"]), "the result in the last event is a result")

statuses = load_schema("result").schema["properties"]["status"]["enum"]
is_(sorted({d["status"] for d in seen["result"]}), sorted(statuses), "every status was among them")
is_(sorted(d["event"] for d in seen["event"]), sorted(load_schema("event").schema["properties"]["event"]["enum"]),
    "every event was among them")



def undescribed(schema, path=""):
    """Members without a description."""
    if isinstance(schema, list):
        for index, element in enumerate(schema):
            yield from undescribed(element, f"{path}/{index}")
    elif isinstance(schema, dict):
        for name, member in schema.get("properties", {}).items():
            if isinstance(member, dict) and "description" not in member and not path.startswith("/allOf"):
                yield f"{path}/{name}"
        for key, value in schema.items():
            if key not in ("if", "then", "else", "allOf", "anyOf", "prefixItems"):  # conditions; what they name is described
                yield from undescribed(value, f"{path}/{key}")


for of in "result", "event":
    bare = [p for p in undescribed(load_schema(of).schema) if not p.endswith(("/event", "/encoding", "/data", "/schema"))]
    is_(bare, [], f"{of}: every member is described")

good = next(d for d in seen["result"] if d["ok"])


def contradiction(name, **members):
    """A document that lies: its members are replaced along dotted paths."""
    document = copy.deepcopy(good)
    for path, value in members.items():
        *parents, last = [int(p) if p.isdigit() else p for p in path.split("__")]
        where = document
        for step in parents:
            where = where[step]
        where[last] = value
    ok(not is_valid("result", document), f"not valid: {name}")


contradiction("ok, but out of memory", status="oom", cause__limit="memory")
contradiction("ok, but code 1", exit__code=1)
contradiction("exited without a code", exit__code=None, ok=False)
contradiction("exited and signaled", exit__signal=9, ok=False)
contradiction("signaled without a signal", status="signaled", ok=False, exit__code=None)
contradiction("an unknown status", status="crashed", ok=False)
contradiction("a limit that was no cause", cause__limit="wall")
contradiction("a wall timeout for another limit", status="wall-timeout", ok=False, cause__limit="idle")
contradiction("refused without a reason", status="refused", ok=False, exit__code=None, cause__message=None)
contradiction("lost, and ok", status="lost", cause__message="x")
contradiction("code 256", exit__code=256, ok=False)
contradiction("a negative number", usage__wall_usec=-1)
contradiction("a number as text", usage__wall_usec="1")
contradiction("a fraction", usage__wall_usec=1.5)
contradiction("a guarantee that is enforced by nothing", guarantees__2__by=None)
contradiction("an enforced guarantee with gaps", guarantees__2__not_covered=["x"])
contradiction("a degraded guarantee without gaps", guarantees__0__not_covered=[])
contradiction("guarantees in another order", guarantees=[good["guarantees"][1], good["guarantees"][0]] + good["guarantees"][2:])
contradiction("a guarantee is missing", guarantees=good["guarantees"][:-1])
contradiction("a guarantee too many", guarantees=good["guarantees"] + good["guarantees"][-1:])
contradiction("an empty text for null", cause__message="")
contradiction("base64 that is none", cause__message={"encoding": "base64", "data": "/=="})
contradiction("another encoding", cause__message={"encoding": "hex", "data": "00"})
contradiction("a digest that is none", spec_sha256="e3b0")
contradiction("a device that is none", usage__io={"sda": good["usage"]["io"]["8:0"]})
contradiction("another version of the schema", schema="pinfold.result/2")
done()
