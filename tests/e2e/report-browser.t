#!/usr/bin/python3
"""The page of `pinfold report` in a real browser: hostile text in every field runs nothing and asks for nothing (a control page
without escaping does both); light and dark, narrow and wide; readable contrast, tables and headings as a screen reader wants them."""
import html
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
import pf
from browser import PROGRAM, Browser
from pf import *
from reports import Reports

if not PROGRAM:
    skip_all("no chromium on this machine")

hits, controls = [], []


class Probe(BaseHTTPRequestHandler):
    def do_GET(self):
        hits.append(self.path)
        self.send_response(204)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.end_headers()

    do_POST = do_GET

    def log_message(self, *words):
        pass


class Control(Probe):
    """Its own, so that what a control page asks for late is taken for no other's."""

    def do_GET(self):
        controls.append(self.path)
        self.send_response(204)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.end_headers()

    do_POST = do_GET


servers = [ThreadingHTTPServer(("127.0.0.1", 0), kind) for kind in (Probe, Control)]
for server in servers:
    threading.Thread(target=server.serve_forever, daemon=True).start()
HERE, THERE = ("http:" + f"//127.0.0.1:{server.server_port}" for server in servers)

reports = Reports()
work, write = reports.folder, reports.write


SCRIPT = f"window.owned=1;document.title='owned';fetch('{HERE}/script')"
# Each a way of its own to run a script, load something, restyle or leave the page.
VECTORS = {
    "script": f"<script>{SCRIPT}</script>",
    "image": f"<img src={HERE}/image onerror=\"{SCRIPT}\"><img src=x onerror=\"{SCRIPT}\">",
    "attribute": f"\" onmouseover=\"{SCRIPT}\" autofocus onfocus=\"{SCRIPT}\" tabindex=0 x=\"",
    "apostrophe": f"' onmouseover='{SCRIPT}' style='background:url({HERE}/attribute)' x='",
    "svg": f"</text></svg><svg onload=\"{SCRIPT}\"><image href='{HERE}/svg'/><use href='{HERE}/use#a'/><animate onbegin=\"{SCRIPT}\" attributeName=x dur=1s/></svg>",
    "style": f"</style></td></table><style>*{{background:url({HERE}/style)!important;display:none}}@import '{HERE}/import';</style><link rel=stylesheet href={HERE}/link>",
    "css": f"}}*{{background:url({HERE}/css)}}/*;color:expression({SCRIPT});@import url({HERE}/css2);",
    "frame": f"<iframe src={HERE}/frame></iframe><iframe srcdoc=\"<script>{html.escape(SCRIPT)}</script>\"></iframe><object data={HERE}/object></object><embed src={HERE}/embed>",
    "leave": f"<meta http-equiv=refresh content=\"0;url={HERE}/refresh\"><base href={HERE}/><form action={HERE}/form><input autofocus onfocus=\"{SCRIPT}\"></form>",
    "address": f"javascript:{SCRIPT}", "comment": f"--><!--><script>{SCRIPT}</script><!--", "cdata": f"]]><script>{SCRIPT}</script><![CDATA[",
    "title": f"</title></textarea></noscript></template><script>{SCRIPT}</script>", "entities": f"&lt;script&gt;{SCRIPT}&lt;/script&gt;&#60;script&#62;{SCRIPT}&#60;/script&#62;",
    "media": f"<video src={HERE}/video autoplay onerror=\"{SCRIPT}\"><source src={HERE}/source></video><audio src={HERE}/audio autoplay></audio><details open ontoggle=\"{SCRIPT}\">x</details>",
    "math": f"<math><mi xlink:href=\"javascript:{SCRIPT}\">x</mi></math><xmp><script>{SCRIPT}</script></xmp><noscript><p title=\"</noscript><img src=x onerror={SCRIPT}>\">",
    "bidi": f"\u202e>tpircs/<\u2066\u2069\u200f\u061c<script>{SCRIPT}</script>", "controls": f"\x01\x1b[2J\x7f\x9b\x85\u2028\ufeff<scr\x01ipt>{SCRIPT}</script>",
    "long": "<b>" * 20000 + f"<script>{SCRIPT}</script>", "wide": "W" * 3000, "marks": "Z\u0351\u0350\u0349" * 500,
}
NUL = {"encoding": "base64", "data": "ADxzY3JpcHQ+d2luZG93Lm93bmVkPTE8L3NjcmlwdD4A/8A8aW1nIHNyYz14IG9uZXJyb3I9YWxlcnQoMSk+"}


def chunk_png():
    import struct
    import zlib
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    # A text chunk as hostile as the rest, in an image that is one.
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 40, 40, 8, 0, 0, 0, 0)) + chunk(b"tEXt", b"Comment\0" + VECTORS["script"].encode()) + \
        chunk(b"IDAT", zlib.compress((b"\0" + b"\x80" * 40) * 40)) + chunk(b"IEND", b"")


image_file = write("pic.png", chunk_png())
kept = tmpdir()
script = "cat /run/input/pic.png > pic.png; cat /run/input/text > text"
hostile_text = write("text", "\n".join(v for v in VECTORS.values() if len(v) < 1000).encode())
run = pinfold("run", "--input-ro", image_file, "--input-ro", hostile_text, "--artifact", "pic.png:type=png", "--artifact", "text", "--artifacts-dir", kept, "--wall", "10s", "@host", "/bin/sh", "-c", script)
is_(sorted(os.listdir(kept)), ["pic.png", "text"], "artifacts for previews", run)
base = run.result
way = {"name": "name", "rule": "rule", "transport": "tcp", "address": "addr", "port": 443, "verdict": "allowed", "reason": "reason", "errno": "E", "count": 1, "sent_bytes": 1,
       "received_bytes": 1, "duration_usec": 1}
row = {"path": "path", "status": "kept", "reason": "reason", "type": "any", "required": True, "size": 3, "sha256": "s", "file": "f"}
full = {**base, "artifacts": [*base["artifacts"], row], "egress": [way], "denied": {"syscalls": [{"name": "mount", "count": 2}], "more": 3, "complete": False}, "warnings": ["warning"],
        "image": {"digest": "digest"}, "cause": {"limit": "limit", "stage": "stage", "message": "message", "evidence": {"key": "text", "other": 5}}}
full["usage"]["io"] = {"8:0": {"rbytes": 1, "wbytes": 2, "rios": 3, "wios": 4}}
full["usage"]["wall_usec"] = 8000000
events = [{"schema": "pinfold.event/1", "event": "started", "id": None, "at_usec": 10, "pid": 5},
          *({"schema": "pinfold.event/1", "event": "usage", "id": None, "at_usec": n * 1000000, "cpu_usec": n * 400000, "memory_bytes": n * (60 << 20), "pids": n, "stdout_bytes": n * 5000,
             "stderr_bytes": n * 10} for n in range(1, 8)), {"schema": "pinfold.event/1", "event": "limit", "id": None, "at_usec": 7900000, "name": "wall"}]
SHAPE = {"cause", "evidence", "exit", "usage", "io", "8:0", "output", "stdout", "stderr", "denied", "image", "host"}
PLAIN = {"schema", "file", "sha256"}  # where the artifacts' own must stay, or no preview is shown


def poison(value, text, name=""):
    if isinstance(value, dict):
        return {(text if isinstance(text, str) and name == "evidence" and key == "key" else key): poison(item, text, key) for key, item in value.items()}
    if isinstance(value, list):
        return [poison(item, text, name) for item in value]
    return text if isinstance(value, str) and name not in PLAIN else value


def made(name, text):
    """The page with that text in every field, by its address."""
    hostile = poison(full, text)
    if not isinstance(text, str):
        hostile["status"] = "bytes"  # it is a word in any case
    hostile["artifacts"][-1].update(file=text, sha256=text)
    hostile["output"]["stdout"]["sha256"] = hostile["spec_sha256"] = text
    lines = [json.dumps(poison(e, text if e["event"] in ("limit", "started") else e["event"]) | {"event": e["event"] if e["event"] == "usage" else text}).encode() + b"\n" for e in events]
    page = os.path.join(work, name + ".html")
    run = pinfold("report", write("r.json", hostile), "--events", write("e.jsonl", b"".join(lines)), "--artifacts-dir", kept, "-o", page)
    ok(run.code == 0, f"{name}: a page of it", run)
    return page


# ---- a job with all that one can have; every run of its stages is as full as the one above ----
COSTS = {"wall_usec": 5000000, "cpu_usec": 4000000, "memory_bytes": 1 << 20, "scratch_bytes": 4096}
AMOUNTS = {"cpu_usec": 1, "wall_usec": 2, "memory_mib_usec": 3, "runs": 1}
finding = {"id": "rule", "severity": "error", "path": "path", "line": 7, "column": 3, "message": "message", "detail": "detail", "tool": "tool", "waived": None}


def stage_row(state, good, **more):
    return {"name": "name", "kind": "build", "set": {"first": "value", "second": "value"}, "configuration": "small", "state": state, "ok": good, "message": "message",
            "cache": {"state": "off", "key": "key", "reason": "reason"}, "outputs": [{"path": "path", "digest": "digest", "bytes": 5}], "files": {"folder": "folder", "stdout": "a", "stderr": "b"},
            "diagnostics": [{"file": "file", "line": 3, "column": 5, "severity": severity, "code": "code", "message": "message"} for severity in ("error", "warning", "note")], "result": full, **more}


full_job = {"schema": "pinfold.job-result/1", "id": "id", "name": "name", "status": "failed", "ok": False, "cause": {"stage": "stage", "message": "message"},
            "source": {"kind": "archive", "from": "from", "ref": "ref", "commit": "commit", "archive_digest": "digest", "trust": "trust", "digest": "digest", "bytes": 5},
            "analysis": {"gate": "gate", "counts": {"error": 1, "warning": 2, "note": 3, "waived": 4}, "complete": False, "findings": [finding, {**finding, "severity": "note", "waived": "waived"}],
                         "waivers": [{"id": "id", "path": "path", "reason": "reason", "used": used} for used in (0, 2)]},
            "cost": {"scale": 100, "points": [{"configuration": "small", "scale": 1.5, "measured": COSTS}], "estimate": {key: {"value": 5, "low": 3, "high": 9, "method": "method"} for key in COSTS},
                     "approved": COSTS, "by": "by", "measured": COSTS, "reserved": AMOUNTS, "settled": AMOUNTS, "over": ["over", "wall"]},
            "stages": [stage_row("ran", True), stage_row("ran", False), stage_row("cached", True, set=None), stage_row("skipped", False, result=None)],
            "usage": {"wall_usec": 8000000, "stages_usec": 7000000}, "host": {"kernel": "kernel", "pinfold": "pinfold"}, "warnings": ["warning"]}
os.mkdir(os.path.join(kept, "one"))
for name in "pic.png", "text":
    os.link(os.path.join(kept, name), os.path.join(kept, "one", name))
os.chmod(os.path.join(kept, "one"), 0o755)
OPEN = "document.querySelectorAll('details').forEach(d => { d.open = true })"


def poison_job(value, text, name=""):
    if isinstance(value, dict):
        if isinstance(value.get("schema"), str) and value["schema"] == "pinfold.result/1":
            return {**poison(value, text), "status": text if isinstance(text, str) else "bytes"}
        return {(text + key if isinstance(text, str) and name == "set" else key): poison_job(item, text, key) for key, item in value.items()}
    if isinstance(value, list):
        return [poison_job(item, text, name) for item in value]
    return text if isinstance(value, str) and name != "schema" else value


def made_job(name, text, **more):
    """The page of a job with that text in every field, and in the events of its first run; more stays as it is."""
    text = text[-20000:] if isinstance(text, str) else text  # there are so many fields
    hostile = poison_job(full_job, text)
    hostile.update({"status": text if isinstance(text, str) else "bytes", **more})
    hostile["stages"][0]["files"]["folder"] = "one"  # or no preview is shown
    for one in hostile["stages"][:1]:
        one["result"]["id"] = "run"
    for one, was in zip(hostile["stages"], full_job["stages"]):
        if more:
            one["state"] = was["state"]
    lines = [{"schema": "pinfold.job-event/1", "job": hostile["id"] if isinstance(text, str) else "x", "what": "run", "stage": text, "set": {"a": text}, "at_usec": 5,
              "event": {**e, "id": "run", **({"event": text} if e["event"] == "limit" and isinstance(text, str) else {})}} for e in events]
    if not isinstance(text, str):
        hostile["id"] = "x"
    page = os.path.join(work, "job-" + name + ".html")
    run = pinfold("report", write("j.json", hostile), "--events", write("je.jsonl", b"".join(json.dumps(e).encode() + b"\n" for e in lines)), "--artifacts-dir", kept, "-o", page)
    ok(run.code == 0, f"job, {name}: a page of it", run)
    return page


def facts(page):
    return page.value("""({owned: window.owned || null, title: document.title, scripts: document.scripts.length, frames: window.frames.length,
        handlers: [...document.querySelectorAll('*')].filter(e => [...e.attributes].some(a => a.name.startsWith('on') || a.name == 'style' || a.name == 'srcdoc')).length,
        tags: [...new Set([...document.querySelectorAll('*')].map(e => e.localName))].sort(), h1: getComputedStyle(document.querySelector('h1')).fontSize,
        images: [...document.images].map(i => [i.src.slice(0, 22), i.naturalWidth]), address: location.href})""")


def quiet(page):
    """Whatever waits for a pointer or a key gets it; then what was asked for besides the page itself and what is in it."""
    page.value("""(async () => { for (const e of document.querySelectorAll('*')) for (const t of ['mouseover', 'click', 'focus', 'error', 'load', 'toggle']) e.dispatchEvent(new Event(t));
        await new Promise(r => requestAnimationFrame(() => setTimeout(r, 0))) })()""")
    return [url[:80] for url in page.requests[1:] if not url.startswith("data:image/png;base64,")]


KNOWN = ("article bdi body br caption circle code dd details div dl dt figcaption figure footer h1 h2 h3 h4 head header html img li line main meta p path pre rect section span strong style summary svg table tbody "
         "td text th thead title tr ul").split()


def contrast(page):
    """The least contrast of a text with what is behind it, and where."""
    return page.value("""(() => {
        const parse = c => { const m = c.match(/[\\d.]+/g).map(Number); return m.length < 4 ? [...m, 1] : m };
        const over = (a, b) => [0, 1, 2].map(i => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
        const light = c => { const [r, g, b] = c.map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b };
        let least = [99, ''];
        for (const e of document.querySelectorAll('body *')) {
            const text = [...e.childNodes].some(n => n.nodeType == 3 && n.data.trim());
            if (!text || !e.getClientRects().length) continue;
            const s = getComputedStyle(e), chain = [];
            let alpha = 1;
            for (let at = e; at; at = at.parentElement) { chain.push(at); alpha *= Number(getComputedStyle(at).opacity) }
            let behind = [255, 255, 255, 1];
            for (const at of chain.reverse()) behind = over(parse(getComputedStyle(at).backgroundColor), behind);
            const own = parse(e instanceof SVGElement ? s.fill : s.color);
            own[3] *= alpha;
            const [a, b] = [light(over(own, behind)), light(behind)].sort((x, y) => y - x);
            const ratio = (a + .05) / (b + .05);
            if (ratio < least[0]) least = [Math.round(ratio * 100) / 100, e.outerHTML.slice(0, 120)];
        }
        return least })()""")


WIDER = """[...document.querySelectorAll('body *')].filter(e => !e.closest('thead') && e.getClientRects().length && e.getBoundingClientRect().right > innerWidth + 1)
    .map(e => e.outerHTML.slice(0, 100)).slice(0, 3)"""

with Browser(pf._credentials(WHO)) as browser:
    # ---- controls: what the same strings do where nothing stands in the way ----
    bare = write("bare.html", ("<!DOCTYPE html><title>bare</title><svg><text>" + "</text></svg>" + "\n".join(v for k, v in VECTORS.items() if k in ("script", "image", "svg", "style", "frame"))).replace(HERE, THERE).encode())
    page = browser.open("file://" + bare)
    quiet(page)
    ok(page.value("window.owned") == 1 and page.value("document.title") == "owned", "control: unescaped, without the policy, it runs")
    ok(any(url.startswith(THERE) for url in page.requests), "and asks for things", str(page.requests[:5]))
    ok(page.value(f"fetch('{THERE}/control').then(r => r.status)") == 204 and "/control" in controls, "which the probe counts", str(controls))
    ok(page.value(f"fetch('{HERE}/control').then(r => r.status)") == 204 and hits == ["/control"], "and so would the other", str(hits))
    hits.clear()
    good = pinfold("report", write("good.json", base), "-o", os.path.join(work, "good.html"))
    with open(os.path.join(work, "good.html"), encoding="utf-8") as file:
        text = file.read()
    forced = write("forced.html", text.replace("<main>", "<main>" + "".join(VECTORS[k] for k in ("script", "image", "svg", "style", "frame"))).encode())
    page = browser.open("file://" + forced)
    quiet(page)
    ok(page.value("window.owned || null") is None and page.value("document.title") != "owned" and not hits,
       "the same in a page of ours, had it got there: the policy runs nothing and loads nothing", f"{hits} {page.complaints}")
    ok(any("Content Security Policy" in text for text in page.complaints), "and is what forbids it", str(page.complaints))

    # ---- hostile strings in every field ----
    for name, text in [*VECTORS.items(), ("nul", NUL)]:
        page = browser.open("file://" + made(name, text), width=380)
        asked = quiet(page)
        found = facts(page)
        is_((asked, hits, page.dialogs), ([], [], []), f"{name}: asks for nothing")
        is_((found["owned"], found["scripts"], found["handlers"], found["frames"]), (None, 0, 0, 0), "runs nothing")
        is_(sorted(set(found["tags"]) - set(KNOWN)), [], "makes no element")
        ok(found["title"].endswith("Pinfold") and found["title"] != "owned" and found["address"].startswith("file://"), "leaves title and address alone", str(found))
        is_(page.complaints, [], "and nothing had to be forbidden")
        is_((page.value("document.documentElement.scrollWidth"), page.value(WIDER)), (380, []), "nothing is wider than a narrow window")
    is_(found["h1"], "23px", "the page's own style counts")
    is_(found["images"], [["data:image/png;base64,", 40]], "and the image in it is shown")

    # ---- and in every field of a job ----
    for name, text in [*VECTORS.items(), ("nul", NUL)]:
        page = browser.open("file://" + made_job(name, text), width=380)
        page.value(OPEN)
        asked = quiet(page)
        page.value(OPEN)  # a click closes some
        found = facts(page)
        is_((asked, hits, page.dialogs), ([], [], []), f"job, {name}: asks for nothing")
        is_((found["owned"], found["scripts"], found["handlers"], found["frames"]), (None, 0, 0, 0), "runs nothing")
        is_(sorted(set(found["tags"]) - set(KNOWN)), [], "makes no element")
        is_(page.value("[document.querySelectorAll('h1').length, document.querySelectorAll('details.one').length, document.querySelectorAll('details.one:not(article > section > details)').length]"),
            [1, 4, 0], "and nothing stands where it does not belong")
        ok(found["title"].endswith("Pinfold") and found["title"] != "owned" and found["address"].startswith("file://"), "leaves title and address alone", str(found))
        is_(page.complaints, [], "and nothing had to be forbidden")
        is_((page.value("document.documentElement.scrollWidth"), page.value(WIDER)), (380, []), "nothing is wider than a narrow window")
    is_(found["images"], [["data:image/png;base64,", 40]], "and the image in it is shown")

    # ---- how it looks ----
    address = "file://" + made("plain", "A plain text")
    colours = {}
    for width in 320, 380, 768, 1280:
        for dark in False, True:
            page = browser.open(address, width=width, dark=dark)
            kind = f"{width} wide, {'dark' if dark else 'light'}"
            colours[dark] = page.value("[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]")
            is_((page.value("document.documentElement.scrollWidth"), page.value(WIDER)), (width, []), f"{kind}: no sideways scrolling")
            least = contrast(page)
            ok(least[0] >= 4.5, f"{kind}: every text stands out from what is behind it", str(least))
    ok(colours[False][0] != colours[True][0] and colours[False][1] != colours[True][1], "light and dark differ", str(colours))
    page = browser.open(address)
    ok(page.value("(r => r.length == 4 && r.every(s => { const b = s.getBoundingClientRect(); return b.width > 300 && b.height > 100 }))([...document.querySelectorAll('.plot svg[role=img]')])"),
       "four plots, of a size")
    ok(page.value("[...document.querySelectorAll('.plot .line[d]')].every(l => l.getTotalLength() > 50)"), "with lines in them")
    is_(page.value("""[...document.querySelectorAll('.plot svg[role=img]')].flatMap(s => [...s.querySelectorAll('text')].filter(t => { const a = t.getBBox(), b = s.viewBox.baseVal;
        return a.x < 0 || a.y < 0 || a.x + a.width > b.width + 1 || a.y + a.height > b.height + 1 }).map(t => t.textContent))"""), [], "no label is cut off")
    is_(page.value("document.documentElement.lang"), "en", "the language is said")
    is_(page.value("[...document.querySelectorAll('table')].filter(t => !t.caption || !t.querySelector('thead th[scope=col]')).length"), 0, "every table has a caption and heads")
    is_(page.value("[...document.querySelectorAll('section')].filter(s => !document.getElementById(s.getAttribute('aria-labelledby'))).length"), 0, "every part has its name")
    is_(page.value("(ids => ids.length - new Set(ids).size)([...document.querySelectorAll('[id]')].map(e => e.id))"), 0, "no id stands twice")
    is_(page.value("[...document.querySelectorAll('svg:not([aria-hidden]):not([role=img][aria-label]), img:not([alt])')].length"), 0, "every picture says what it is, or that it is none")
    for status in "failed", "needs-approval", "stopped", "refused", "succeeded":
        address = "file://" + made_job(status, "A plain text", status=status)
        for width in 320, 400, 1280:
            for dark in False, True:
                page = browser.open(address, width=width, dark=dark)
                kind = f"job, {status}, {width} wide, {'dark' if dark else 'light'}"
                page.value(OPEN)
                is_((page.value("document.documentElement.scrollWidth"), page.value(WIDER)), (width, []), f"{kind}: no sideways scrolling")
                least = contrast(page)
                ok(least[0] >= 4.5, f"{kind}: every text stands out from what is behind it", str(least))
    is_(page.value("[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(h => +h.localName[1]).reduce((bad, rank, i, all) => bad + (i ? rank > all[i - 1] + 1 : rank != 1), 0)"), 0,
        "job: no rank of headings is left out")
    is_(page.value("[...document.querySelectorAll('table')].filter(t => !t.caption || !t.querySelector('thead th[scope=col]')).length"), 0, "every table has a caption and heads")
    is_(page.value("[...document.querySelectorAll('section')].filter(s => !document.getElementById(s.getAttribute('aria-labelledby'))).length"), 0, "every part has its name")
    is_(page.value("(ids => ids.length - new Set(ids).size)([...document.querySelectorAll('[id]')].map(e => e.id))"), 0, "no id stands twice")
    is_(page.value("[...document.querySelectorAll('summary')].filter(s => !s.querySelector('h3, h4') || s.parentElement.localName != 'details').length"), 0, "what opens has a heading")
    is_(page.value("document.querySelectorAll('.plot svg[role=img]').length"), 4, "the plots of the stage whose events there are")
    page = browser.open(address)
    is_(page.value("(d => { const before = d.open; d.querySelector('summary').click(); return [before, d.open] })(document.querySelector('details.one'))"), [False, True], "a stage opens without a script")
    closed = "document.querySelector('details:not([open]) .within').checkVisibility()"
    is_(page.value(closed), False, "what is closed is not seen")
    page.send("Emulation.setEmulatedMedia", media="print")
    is_(page.value(closed), True, "but on paper")
    is_(page.value("getComputedStyle(document.querySelector('section')).borderTopWidth"), "0px", "on paper it looks another way")
for server in servers:
    server.shutdown()
done()
