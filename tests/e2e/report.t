#!/usr/bin/python3
"""pinfold report: one page that needs nothing else and tells what became of a run; hostile text stays text, what is broken is
refused with its place, and of artifacts only what is still the same is shown."""
import copy
import json
import os
import re
import stat
import struct
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *
from reports import Reports

reports = Reports()
work, write, page = reports.folder, reports.write, reports.page
page_file = os.path.join(work, "page.html")


def report(*words, **more):
    return pinfold("report", *words, **more)


# ---- of real runs: each status in words ----
payload = (tiny(), "/bin/payload")
real = pinfold("run", *payload, "exit", "0", events=True)
base = real.result
text, words = page(base)
for part in ("Succeeded", "The program ended by itself with exit code 0", base["id"], "exited", "Guarantees", "Limits", "Artifacts", "Output", "Network",
             "Denied system calls", base["spec_sha256"], base["host"]["kernel"], base["output"]["stdout"]["sha256"], "512 MiB"):
    ok(part in words, f"the page tells {part}", words[:2000])
for row in base["guarantees"]:
    ok(row["name"] in words and all(gap in words for gap in row.get("not_covered", [])) and (row["by"] or "") in words, f"and {row['name']}, with all that is not covered")
is_(re.findall(r"<(script|iframe|object|embed|link|base|form|foreignObject)\b", text), [], "no element that runs or loads")
is_(re.findall(r"\s(on\w+|style|srcdoc|href|formaction)=", text), [], "no attribute that does")
is_(text.count("http"), 1, "no address: the one http is http-equiv")
like(text, r"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; img-src data:; "
     r"base-uri 'none'; form-action 'none'\">\n", "a policy that lets nothing run and nothing load")
ok(text.index("Content-Security-Policy") < text.index("<style>") and len(re.findall("<h1>", text)) == 1, "before all else; one heading of the first rank")

killed = pinfold("run", *payload, "signal", "11")
_, words = page(killed.result)
ok("Crashed" in words and "Signal 11 (SEGV) ended the program" in words, "a signal by its name", words[:400])
refused = pinfold("run", "--require", "nonsense", *payload)
_, words = page(refused.result)
ok("Refused" in words and "Pinfold did not start the run" in words and refused.result["cause"]["message"] in words, "refused, and why", words[:600])
silent = pinfold("run", "--wall", "100ms", *payload, "sleep", "60", events=True)
text, words = page(silent.result, "--events", silent.events and write("silent.jsonl", b"".join(json.dumps(e).encode() + b"\n" for e in silent.events)))
ok("Stopped: out of time" in words and "wall-clock limit of 100ms" in words and "reached" in words, "a limit, and its figure", words[:400])
ok("over before the first look" in words, "no plot of nothing", words[:1500])
STATUSES = {"signaled": "Crashed", "wall-timeout": "out of time", "cpu-timeout": "out of processor time", "idle-timeout": "idle", "oom": "out of memory",
            "output-limit": "too much output", "egress-limit": "too much network traffic", "foreign-abi": "foreign system call", "cancelled": "Cancelled",
            "exec-failed": "Did not start", "setup-failed": "Did not start", "refused": "Refused", "lost": "Lost"}
is_(sorted([*STATUSES, "exited"]), sorted(load_schema("result").schema["properties"]["status"]["enum"]), "every status of the schema is looked at")
for status, said in STATUSES.items():
    _, words = page({**base, "status": status, "ok": False})
    ok(said in words.split("status")[0], f"{status}: {said}", words[:300])
_, words = page({**base, "ok": False})
ok("Failed" in words and "artifact that the run requires was not kept" in words, "code 0 and not ok: why", words[:300])
_, words = page({**base, "ok": False, "exit": {"code": 3, "signal": None}})
ok("Failed" in words and "exit code 3" in words, "another code", words[:300])

# ---- the network: none, or rules by which nothing went out ----
_, words = page(base)
ok("There was none: no rule of --allow was given" in words, "no rule, no network", words[:3000])
unused = pinfold("run", "--allow", "example.org:443", "--allow", "*.example.com:80", *payload, "exit", "0")
ok(unused.result["status"] == "exited" and unused.result["egress"] == [], "two rules, and nothing goes out", unused)
_, words = page(unused.result)
ok("Nothing was asked for, though something could have been reached, by 2 rules of --allow" in words and "There was none" not in words, "rules that nobody used are told", words[:3000])
_, words = page({"schema": "pinfold.result/1", "status": "exited"})
ok("Network Nothing is on record." in words, "and where the result does not tell, neither does the page", words[:1500])

# ---- over time ----
def usage(at, **use):
    return {"schema": "pinfold.event/1", "event": "usage", "id": base["id"], "at_usec": at,
            **{"cpu_usec": at // 2, "memory_bytes": 64 << 20, "pids": 3, "stdout_bytes": at // 1000, "stderr_bytes": 0, **use}}


def lines(*events):
    return b"".join(json.dumps(e).encode() + b"\n" for e in events)


long_run = {**base, "usage": {**base["usage"], "wall_usec": 5000000, "cpu_user_usec": 2000000, "cpu_system_usec": 500000}}
started = {"schema": "pinfold.event/1", "event": "started", "id": base["id"], "at_usec": 1000, "pid": 7}
text, words = page(long_run, "--events", write("e.jsonl", lines(started, *(usage(n * 1000000, memory_bytes=(n + 1) * (100 << 20)) for n in range(1, 5)))))
is_(text.count('role="img"'), 4, "four plots")
for label in ("Memory over time: at most 500 MiB", "Processors over time: at most 0.5", "Processes and threads over time: at most 3", "Output over time: stdout at most"):
    ok(label in text, f"for a reader without eyes: {label}")
ok("limit 512 MiB" in words and 'class="limit"' in text, "the limit that it came near is drawn")
ok("2 s" in words and "started" in words, "the axis has times, and what happened is told")
_, words = page(long_run, "--events", write("e.jsonl", lines(usage(1000000)) + b'{"schema": "pinfold.event/1", "event": "usa'))
ok("1 line of the events is none" in words, "a line that is torn is counted", words[:3000])
_, words = page(long_run, "--events", write("e.jsonl", lines(*(usage(n * 1000) for n in range(1, 3000)), {"schema": "x"}, {"schema": "pinfold.event/1", "event": "new-thing", "id": base["id"], "at_usec": 1})))
ok("1 line of the events is none" in words and "new-thing" in words, "thousands are thinned out; what is new is told")
_, words = page(long_run, "--events", write("e.jsonl", lines(usage(1000000, memory_bytes=None, cpu_usec=None, pids=None, stdout_bytes=None, stderr_bytes=None))))
ok("No figures" in words, "figures that the host cannot tell are no zeros")
run = report(write("r.json", base), "--events", write("e.jsonl", lines({**usage(1), "id": "another"})))
is_((run.code, run.out), (125, b""), "events of another run: refused", run)
like(run.err.decode(), "another run", "by name")

# ---- what is missing, older, newer ----
least = {"schema": "pinfold.result/1", "status": "exited"}
text, words = page(least)
ok("a code that is not told" in words and "not told" in words, "a document that says next to nothing", words[:500])
for name in base:
    if name not in ("schema", "status"):
        page({key: value for key, value in base.items() if key != name})
        page({**base, name: None})
_, words = page({**base, "status": "abducted", "ok": False, "new_member": {"deep": [1, {"x": 2}]}, "usage": {**base["usage"], "new": -1}})
ok("Did not succeed" in words and "abducted" in words and "no words for" in words, "a status and members of a newer version", words[:400])
page({**base, "guarantees": [{"name": "teleport", "state": "quantum"}]})

# ---- broken documents: refused, with the place ----
broken = [
    (b"", r":1:1: it is empty"), (b"{", r":1:1: .*ends in the middle"), (b"[]", r":1:1: an object"), (b"null", r":1:1: an object"),
    (b'{"schema": "pinfold.result/1",\n  "status": "exited",,}', r":2:\d+: not JSON"), (b'{"a": 1, "a": 2}', r":1:\d+: a key that is there already"),
    (b'{"schema": "pinfold.result/1", "status": "x", "id": "a\\u0000b"}', r"holds a NUL"), (b'{"a": "\xff"}', r":1:\d+: bytes that are not UTF-8"),
    (b'{"schema": "pinfold.result/1", "status": "ex\0"}', r":1:\d+: "), (b"{" + b'"a":{' * 40 + b"}" * 41, r":1:\d+: nested too deep"), (b"[" * 100000, "nested too deep"),
    (b'{}', r":1:1: no document of Pinfold's"), (b'{"schema": "x"}', r":1:12: .*no document"), (b'{\n "schema": "pinfold.result/2"}', r":2:12: .*no page for"),
    (b'{"schema": "pinfold.event/1"}', r":1:12: .*no page for"), (b'{"schema": "pinfold.result/1"}', r":1:1: a status"),
    (b'{"schema": "pinfold.result/1", "status": 5}', r":1:42: .*a status"),
    (b'{"schema": "pinfold.result/1", "status": "x",\n\n "usage": {"io": {},\n  "wall_usec": "long"}}', r":4:16: .*whole number"),
    (b'{"schema": "pinfold.result/1", "status": "x",\n "usage": {"wall_usec": -5}}', r":2:25: .*whole number"),
    (b'{"schema": "pinfold.result/1", "status": "x",\n "usage": {"wall_usec": 1e3}}', r":2:25: .*whole number"),
    (b'{"schema": "pinfold.result/1", "status": "x",\n "guarantees": [{"name": "a"},\n {"name": {}}]}', r":3:11: .*a string belongs here"),
    (b'{"schema": "pinfold.result/1", "status": "x", "warnings": [{"encoding": "base64", "data": "!!"}]}', r"not base64"),
    (b'{"schema": "pinfold.result/1", "status": "x", "artifacts": {"a": 1}}', r"an array belongs here"),
    (b'{"schema": "pinfold.result/1", "status": "x", "ok": "yes"}', r"true or false"), (b'{"schema": "pinfold.result/1", "status": "x", "exit": []}', r"an object belongs"),
    (b'{"schema": "pinfold.result/1", "status": "x", "exit": {"code": 99999999999999999999}}', r"out of range"), (b"\x00\x01\xff" * 100, r":1:1: "),
]
for content, why in broken:
    run = report(write("broken.json", content), "-o", page_file)
    is_((run.code, run.out, os.path.exists(page_file)), (125, b"", False), f"refused, and nothing written: {content[:60]!r}", run)
    like(run.err.decode(), r"^pinfold: report: \S*broken\.json" + why if why.startswith(":") else why, "with place and reason")
    is_(run.err.count(b"\n"), 1, "in one line")
crowd = write("crowd.json", b'{"schema": "pinfold.result/1", "status": "x", "artifacts": [' + b"{}," * 100000 + b"{}]}")
run = report(crowd)
is_(run.code, 125, "more rows than a result has", run)
like(run.err.decode(), ":1:60: artifacts: more of them", "with place and reason")
run = report(write("crowd.json", b'{"schema": "pinfold.result/1", "status": "x", "artifacts": [' + b"{}," * 5000000 + b"{}]}"))
is_(run.code, 125, "more than memory", run)
# A sanitizer's own memory has no bound, and so its reader none.
like(run.err.decode(), ":1:60: artifacts: more of them" if "address" in BUILD else ":1:1: it takes more memory", "is told from what is no JSON")
os.unlink(crowd)
big = write("big.json", b'{"schema": "pinfold.result/1", "x": "' + b"a" * (17 << 20) + b'"}')
run = report(big)
is_(run.code, 125, "larger than a result can be", run)
like(run.err.decode(), "larger than 16 MiB", "with the figure")
os.unlink(big)

# ---- hostile strings in every field ----
HOSTILE = "</td></style><script>document.title='owned'</script><img src=x onerror=alert(1)>\"'><svg/onload=alert(1)>javascript:alert(1)&lt;b&gt;\x1b[31m\x7f\x85\u202e\u2066\ufeff\u200b" \
          "\U000e0041<!--]]>${7*7}{{7*7}}`"


def poison(value, name=""):
    """The same shape, with every text hostile but the schema's name."""
    if isinstance(value, dict):
        return {key if key in KEYS else HOSTILE: poison(item, key) for key, item in value.items()}
    if isinstance(value, list):
        return [poison(item, name) for item in value]
    return HOSTILE + name if isinstance(value, str) and name != "schema" else value


KEYS = set(base) | {"code", "signal", "limit", "stage", "message", "evidence", "name", "count", "requested", "state", "by", "value", "not_covered", "stdout", "stderr",
                    "bytes", "truncated", "sha256", "syscalls", "more", "complete", "digest", "kernel", "pinfold", "io", "pressure", "memory_at_end", "rbytes", "wbytes", "rios", "wios",
                    "path", "reason", "type", "size", "file", "rule", "transport", "address", "verdict", "errno", "port", "sent_bytes", "received_bytes", "duration_usec", "required",
                    "event", "at_usec", "encoding", "data"} | set(base["usage"])
row = {"path": "p", "status": "kept", "reason": "r", "type": "any", "required": True, "size": 3, "sha256": "s", "file": "f"}
way = {"name": "n", "rule": "r", "transport": "tcp", "address": "a", "port": 443, "verdict": "allowed", "reason": "r", "errno": "E", "count": 1, "sent_bytes": 1, "received_bytes": 1, "duration_usec": 1}
full = {**copy.deepcopy(base), "artifacts": [row, row], "egress": [way], "denied": {"syscalls": [{"name": "mount", "count": 2}], "more": 3, "complete": False}, "warnings": ["w", "v"],
        "image": {"digest": "d"}, "cause": {"limit": "l", "stage": "s", "message": "m", "evidence": {"key": "text", "other": 5}}}
full["usage"]["io"] = {"8:0": {"rbytes": 1, "wbytes": 2, "rios": 3, "wios": 4}}
text, words = page(poison(full), "--events", write("e.jsonl", lines(poison(started), poison(usage(1000000)))))
is_(re.findall(r"<(?:script|img|!--|svg/)", text), [], "hostile text in every field: no element of it")
is_(set(re.findall(r"</?([A-Za-z0-9]+)", text)) - set("html head meta title style body header main footer article section div span p h1 h2 h3 dl dt dd ul li table caption thead tbody tr th td "
    "code bdi svg path circle rect line text figure figcaption strong br".split()), set(), "nothing but the page's own elements")
ok(not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]", text), "nothing that is not seen is in the page")
ok("\\u{202e}" in text and "\\x1b" in text and "\\u{e0041}" in text, "it is shown by its number")
ok(text.count("document.title") > 40, "and all of it is there to read", str(text.count("document.title")))
_, words = page({**base, "warnings": [{"encoding": "base64", "data": "/wA8c2NyaXB0Pg=="}]})
ok("\\xff\\x00<script>" in words, "bytes that are no UTF-8, a NUL among them", words[:1500])
text, words = page({**base, "id": None, "cause": {**base["cause"], "message": "x" * 1000000}, "warnings": ["\u0301" * 5000]})
ok("(1000000 bytes)" in words and len(text) < 200000, "what is overlong is cut, and says so", str(len(text)))
ok(text.count("\u0301") < 10, "marks do not pile up")
many = {**base, "artifacts": [{**row, "path": f"a{n}"} for n in range(1536)], "egress": [way] * 265}
text, words = page(many)
ok("a1535" in words, "as many rows as a result may have")
others = {**way, "name": None, "rule": None, "address": None, "port": None, "reason": "and others that have no row of their own", "errno": None, "count": 12345}
text, words = page({**base, "egress": [way, others], "egress_more": 12345})
ok(re.search(r"– +tcp +allowed +and others that have no row of their own +12,345 ", words), "and a row for the others, with how many they are", words)

# ---- artifacts ----
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height):
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(b"\0" * (width + 1) * min(height, 9))) + chunk(b"IEND", b"")


kept = tmpdir()
image_bytes = write("i.png", png(8, 8))
script = "printf 'first line\\n<script>x</script>\\n' > notes.txt; cp /run/input/i.png pic.png; printf 'a\\0b' > raw; head -c 5000 /dev/zero | tr '\\0' x > long"
run = pinfold("run", "--input-ro", image_bytes, "--artifact", "notes.txt", "--artifact", "pic.png:type=png", "--artifact", "raw", "--artifact", "long", "--artifact", "none",
              "--artifacts-dir", kept, "@host", "/bin/sh", "-c", script)
is_(sorted(os.listdir(kept)), ["long", "notes.txt", "pic.png", "raw"], "artifacts are kept", run)
folder = ("--artifacts-dir", kept)
text, words = page(run.result, *folder)
ok("first line <script>x</script>" in words and "<script>" not in text, "a text is shown, as text")
is_(text.count('src="data:image/png;base64,'), 1, "an image is part of the page")
ok("no preview: it is no text" in words and "Its beginning; there is more." in words and "nothing of that name is there" in words, "what is no text, what is long, what is not there", words[-3000:])
is_(text.count("data:image/png"), page(run.result, *folder)[0].count("data:image/png"), "the same page again")
text, words = page(run.result, *folder, "--no-images")
ok("data:image" not in text and "images are not shown" in words, "--no-images")
text, words = page(run.result)
ok("first line" not in words and "data:image" not in text, "without the folder no preview")


def tampered(name, change):
    """The words of the page when change() was made to the kept file."""
    path = os.path.join(kept, name)
    with open(path, "rb") as file:
        before = file.read()
    change(path)
    text, words = page(run.result, *folder)
    if os.path.lexists(path):
        os.unlink(path)
    with open(path, "wb") as file:
        file.write(before)
    os.chmod(path, 0o644)
    return text, words


def put(content):
    def change(path):
        with open(path, "wb") as file:
            file.write(content)
    return change


def become(make):
    def change(path):
        os.unlink(path)
        make(path)
    return change


secret = write("secret", b"first line\n<script>x</script>\n")
text, words = tampered("notes.txt", put(b"other line\n<script>x</script>\n"))
ok("other line" not in words and "another digest" in words, "one byte changed: not shown, and it is said")
text, words = tampered("notes.txt", put(b"short"))
ok("short" not in words and "another size" in words, "another size")
text, words = tampered("notes.txt", become(lambda path: os.symlink(secret, path)))
ok("first line" not in words and "cannot be opened" in words, "a link is not followed, though it leads to the same bytes")
text, words = tampered("notes.txt", become(os.mkfifo))
ok("no regular file" in words, "a FIFO: no waiting")
text, words = tampered("notes.txt", become(lambda path: None))
ok("cannot be opened" in words, "a file that is gone")
for name in "../secret", "/etc/passwd", "..", ".", "a/b", "-x", "", "x" * 300, "notes.txt\n":
    hostile = {**run.result, "artifacts": [{**run.result["artifacts"][0], "file": name, "size": 29}]}
    _, words = page(hostile, *folder)
    ok("none that Pinfold gives" in words, f"a name that is none of ours is not opened: {name[:20]!r}")
import hashlib
for content, why in ((b"\x89PNG\r\n\x1a\n" + b"x" * 50, "no well-formed PNG"), (png(5000, 4), "more than 4096 pixels"),
                     (png(8, 8)[:33] + chunk(b"acTL", b"\0\0\0\2\0\0\0\0") + png(8, 8)[33:], "it moves"),
                     (png(8, 8)[:-12] + chunk(b"tEXt", b"x" * (2 << 20)) + chunk(b"IEND", b""), "larger than 1 MiB")):
    put(content)(os.path.join(kept, "pic.png"))
    changed = {**run.result, "artifacts": [{**row, "file": "pic.png", "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}]}
    text, words = page(changed, *folder)
    ok("data:image" not in text and why in words, f"an image that is not shown: {why}", words[:200])
large = png(4000, 4000)
put(large)(os.path.join(kept, "pic.png"))
many = [{**row, "file": "pic.png", "size": len(large), "sha256": hashlib.sha256(large).hexdigest()}] * 3
text, words = page({**run.result, "artifacts": many}, *folder)
is_((text.count("data:image"), words.count("enough images")), (1, 2), "so many pixels and no more")
put(png(8, 8))(os.path.join(kept, "pic.png"))
with open(os.path.join(kept, "huge"), "wb") as file:
    file.truncate(1 << 40)
text, words = page({**run.result, "artifacts": [{**row, "file": "huge", "size": 1 << 40, "sha256": "0" * 64}]}, *folder)
ok("too large to be looked at" in words, "a terabyte is not read")
os.unlink(os.path.join(kept, "huge"))

# ---- words ----
source = write("r.json", base)
shown = report(source, "-o", page_file)
is_((shown.code, shown.out, shown.err), (0, b"", b""), "-o FILE", shown)
with open(page_file, "rb") as file:
    written = file.read()
is_((written, written), (report(source).out, report("-", "-o", "-", stdin=json.dumps(base).encode()).out), "the same on stdout, from stdin and to -")
is_(stat.S_IMODE(os.stat(page_file).st_mode), 0o600, "a file for its owner")
is_(report(source, f"--output={page_file}").code, 0, "once more, over the old one")
events = write("e.jsonl", lines(started, usage(1000000)))
is_(report(source, "--events", "-", stdin=lines(started, usage(1000000))).out, report(source, "--events", events).out, "events from stdin")
for name in os.path.basename(source), os.path.basename(events):
    run = report(source, "--events", events, "-o", os.path.join(work, name))
    is_(run.code, 125, f"{name} is read, and not replaced", run)
    like(run.err.decode(), "would be replaced", "which is the reason")
os.mkfifo(os.path.join(work, "fifo"))
for words, why in (((), "a result is missing"), ((source, source), "unexpected"), (("--frob", source), "unknown option"), ((source, "-o"), "value is missing"), (("-", "--events", "-"), "both"),
                   ((source, "-o", "/nowhere/x"), "No such file"), (("/nowhere/r.json",), "No such file"), ((work,), "Is a directory"), ((source, "--artifacts-dir", source), "Not a directory"),
                   ((source, "-o", os.path.join(work, "fifo")), "not a regular file"), ((source, "-o", "a", "-o", "b"), "given twice"), (("",), "empty"), ((source, "--events", "/nowhere"), "No such file"),
                   ((source, "--events="), "value is missing")):
    run = report(*words)
    is_((run.code, run.out), (125, b""), f"report {' '.join(map(os.path.basename, words))}: refused", run)
    like(run.err.decode(), f"^pinfold: report: .*{why}", "with the reason")
full_disk = open("/dev/full", "wb")
run = report(source, stdout=full_disk)
is_(run.code, 125, "stdout that is full", run)
like(run.err.decode(), "write to stdout: No space", "is an error")
run = report("--help")
is_((run.code, run.err), (0, b""), "--help", run)
ok(all(option in run.out.decode() for option in ("--output", "--events", "--artifacts-dir", "--no-images")), "tells the options")
is_(pinfold("help", "report").out, run.out, "so does help report")
with open(os.path.join(ROOT, "docs/man/pinfold-report.1"), encoding="utf-8") as file:
    manual = file.read().replace("\\-", "-")
is_([option for option in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", run.out.decode()) if option not in manual and option != "-o,"], [], "the manual has every option")
gone = pinfold("report", source, env={"PINFOLD_EXEC_PATH": "/nowhere"})
is_(gone.code, 125, "without the sibling program", gone)
like(gone.err.decode(), "pinfold-report", "which is named")
done()
