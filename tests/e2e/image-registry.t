#!/usr/bin/python3
"""A registry that lies, breaks off, stalls or floods gets nothing into a blob that is not in its digest and keeps nobody waiting for
ever; one that is only weak is pulled from all the same."""
import json
import os
import select
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from registry import *
from pf import *
from fake_registry import *

# ---- the control: all of it works ----

server = fresh(BIG, SMALL)
pull = Pulled(server, "x:v1")
ok(pull.whole(BIG, SMALL), "control: an image is pulled, byte for byte", pull)
is_(pull.retries(), [], "control: at the first try")
is_(len(server.asked(blob_path())), 1, "control: each blob is asked for once")
ok(Pulled(server, "x@" + digest(server.documents["/v2/x/manifests/v1"][1])).ok, "control: by its digest as well")
like(Pulled(server, "x:v2").err, r"v2 of x: not found \(404\)", "a tag that is not there")
like(Pulled(server, "y:v1").err, r"not found \(404\)", "a repository that is not there")

many = [layer(f"f{i}", NOISE.randbytes(50000)) for i in range(12)]
server = fresh(*many)
server.faults.update({blob_path(digest(data)): lambda h, n: time.sleep(0.1) for data, _ in many})
pull = Pulled(server, "x:v1", "parallel=4")
ok(pull.whole(*many), "many layers", pull)
within(server.busiest, 2, 4, "side by side, and not more of them than was said")

try:
    six = Registry(host="::1")
    six.image("x", "v1", (BIG,))
    pull = Pulled(six, "x:v1")
    ok(pull.whole(), "a registry on the loopback address of IPv6", pull)
    is_(six.asked(blob_path())[0]["Host"], six.name, "by its name in brackets")
    other = fresh()
    six.faults[blob_path()] = lambda h, n: h.answer(307, {"Location": f"{other.url}{blob_path()}"}) or True
    ok(Pulled(six, "x:v1").whole() and len(other.log) == 1, "and from there to one of IPv4")
    other.faults[blob_path()] = lambda h, n: h.answer(307, {"Location": f"{six.url}/there"}) or True
    six.put("/there", "application/octet-stream", BIG[0])
    ok(Pulled(other, "x:v1").whole() and len(six.asked("/there")) == 1, "and back")
except OSError:
    skip("no IPv6 on this machine's loopback", "a registry on the loopback address of IPv6")

# ---- wrong bytes ----

flipped = bytearray(BIG[0])
flipped[HALF] ^= 1
server, pull = broken(lambda h, n: h.answer(200, {}, bytes(flipped)) or True)
like(pull.err, "wrong digest", "one bit of a layer is another")
is_(pull.blob(BLOB), b"", "nothing of it is kept")
is_(len(server.asked(blob_path())), 1, "it is asked for once")

server, pull = broken(lambda h, n: h.answer(200, {}, BIG[0][:HALF]) or True)
like(pull.err, "wrong size", "a truncated blob, and a length that agrees with it")
server, pull = broken(lambda h, n: h.until_close(200, {}, BIG[0][:HALF]) or True)
ok(not pull.ok and len(pull.retries()) == 2, "a truncated blob without a length", pull)
server, pull = broken(lambda h, n: h.until_close(200, {}, BIG[0] + b"x") or True)
like(pull.err, "wrong size", "a byte too many")
server, pull = broken(lambda h, n: h.answer(200, {}, BIG[0] + b"x") or True)
like(pull.err, "wrong size", "a byte too many that the length tells of")
server, pull = broken(lambda h, n: h.answer(200, {}, b"") or True)
like(pull.err, "wrong size", "nothing at all")
server, pull = broken(lambda h, n: h.answer(200, {}, b"[]") or True, path="/v2/x/manifests/v1")
like(pull.err, "an object belongs here", "something else for a manifest")

server = fresh()
good = server.documents["/v2/x/manifests/v1"][1]
bad = good.replace(b"sha256", b" sha256"[:0] + b"sha256", 1) + b" "
server.documents[f"/v2/x/manifests/{digest(good)}"] = (MANIFEST, bad)
server.faults[f"/v2/x/manifests/{digest(good)}"] = lambda h, n: h.answer(200, {"Content-Type": MANIFEST}, bad) or True
like(Pulled(server, "x@" + digest(good)).err, "wrong digest", "a manifest that is not of the digest that names it")
for said, what in ((digest(b"x"), "wrong digest"), ("sha256:../../x", "not 64"), ("sha512:" + "0" * 128, "only sha256"),
                   (digest(good).upper(), "only sha256")):
    server, pull = broken(lambda h, n: h.answer(200, {"Content-Type": MANIFEST, "Docker-Content-Digest": said}, good) or True,
                          path="/v2/x/manifests/v1")
    like(pull.err, what, f"the registry says that a manifest is {said[:16]}")
    is_(server.asked(blob_path()), [], "and no blob is asked for")

# ---- sizes ----

huge = b'{"a":"' + b"x" * (4 << 20) + b'"}'
server, pull = broken(lambda h, n: h.answer(200, {"Content-Type": MANIFEST}, huge) or True, path="/v2/x/manifests/v1")
like(pull.err, "larger than 4194304 bytes", "a manifest of more than 4 MiB")
sent = []


def endless(handler, count):
    handler.until_close(200, {"Content-Type": MANIFEST}, b"{")
    for _ in range(1000):
        handler.wfile.write(b" " * 65536)
        sent.append(65536)
    return True


server, pull = broken(endless, path="/v2/x/manifests/v1")
like(pull.err, "larger than 4194304 bytes", "a manifest without end")
within(sum(sent), 0, 32 << 20, "which is not read to its end")
server, pull = broken(lambda h, n: h.answer(200, {f"X-{i}": "x" * 1000 for i in range(90)}, good) or True, path="/v2/x/manifests/v1")
like(pull.err, "bytes of headers", "90 KB of headers")
server, pull = broken(endless, path=blob_path())
like(pull.err, "wrong size", "a blob without end")
server = fresh()
like(Pulled(server, "x:v1", "blob-max=1000000").err, "a blob may have 1000000", "a blob that is larger than the caller allows")
is_(server.asked(blob_path()), [], "is not asked for")

# ---- documents that are no images ----

config = server.documents["/v2/x/manifests/v1"][1]
parts = json.loads(config)


def manifest_with(**members):
    server = fresh()
    server.manifest("x", "v1", {**parts, **members})
    return server, Pulled(server, "x:v1")


for name, layers in (("sha512", [{"mediaType": GZIP, "size": 1, "digest": "sha512:" + "0" * 128}]),
                     ("an upper-case digest", [{"mediaType": GZIP, "size": 1, "digest": "sha256:" + "A" * 64}]),
                     ("a path", [{"mediaType": GZIP, "size": 1, "digest": "sha256:../../../x"}])):
    server, pull = manifest_with(layers=layers)
    like(pull.err, "layer 0: digest .*(only sha256|not 64)", f"{name} for a layer's digest is refused")
    ok(not any("/blobs/" in path for path, _ in server.log), "before anything is asked for", server.log)
server, pull = manifest_with(manifests=[])
like(pull.err, "manifest and index in one", "a manifest that is an index as well is refused")
server, pull = manifest_with(mediaType=INDEX)
like(pull.err, "it says that it is|not the media type", "a manifest that says it is an index is refused")
for name in ("x@sha512:" + "0" * 128, "x@sha256:../x", "x@SHA256:" + "0" * 64):
    server = fresh()
    ok(not Pulled(server, name).ok and not server.log, f"{name[:12]}... is refused before anything is asked for")

server = fresh()
arm = server.image("x", "arm", [SMALL], architecture="arm64")
index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": [
    media(MANIFEST, arm, platform={"os": "linux", "architecture": "arm64", "variant": "v8"}),
    media(MANIFEST, good, platform={"os": "linux", "architecture": "amd64"})]}
server.manifest("x", "all", index, INDEX)
ok(Pulled(server, "x:all").whole(BIG), "an index: this platform's manifest is taken")
pull = Pulled(server, "x:all", "platform=linux/arm64")
ok(pull.whole(SMALL) and pull.blob(BLOB) is None, "or that of the platform which is asked for", pull)
like(Pulled(server, "x:all", "platform=linux/s390x").err, "no manifest for linux/s390x", "one that is not in it")
server.manifest("x", "lie", {**index, "manifests": [{**index["manifests"][1], "size": 7}]}, INDEX)
like(Pulled(server, "x:lie").err, "wrong size", "an index that lies about a manifest's size")
loop = server.manifest("x", "inner", {**index, "manifests": []}, INDEX)
server.manifest("x", "loop", {**index, "manifests": [media(INDEX, loop, platform={"os": "linux", "architecture": "amd64"})]}, INDEX)
like(Pulled(server, "x:loop").err, "index within", "an index within an index is not followed")
server.manifest("x", "masked", {**index, "manifests": [media(MANIFEST, loop, platform={"os": "linux", "architecture": "amd64"})]}, INDEX)
like(Pulled(server, "x:masked").err, "it came as|index", "nor one that is called a manifest")

# ---- weak registries ----


def cut(handler, count):
    """The first answer breaks off in the middle."""
    if count == 0:
        handler.answer(200, {}, BIG[0][:HALF], SIZE)
    return count == 0


server, pull = broken(cut)
ok(pull.whole(), "a connection that is cut in the middle", pull)
is_([headers.get("Range") for headers in server.asked(blob_path())], [None, f"bytes={HALF}-"], "goes on where it was")


def cut_and_forget(handler, count):
    handler.answer(200, {}, BIG[0] if count else BIG[0][:HALF], SIZE)
    return True


server, pull = broken(cut_and_forget)
ok(pull.whole(), "a registry that does not know ranges: from the beginning", pull)


def cut_and_wrong(handler, count):
    if count:
        handler.answer(206, {"Content-Range": f"bytes {HALF - 1}-{SIZE - 1}/{SIZE}"}, BIG[0][HALF:])
        return True
    return cut(handler, count)


server, pull = broken(cut_and_wrong)
like(pull.err, "another range", "a range that was not asked for is refused")
is_([headers.get("Range") for headers in server.asked(blob_path())][:3], [None, f"bytes={HALF}-", None], "and the whole is asked for once more")


def cut_wrong_once(handler, count):
    return cut_and_wrong(handler, count) if count < 2 else False


server, pull = broken(cut_wrong_once)
ok(pull.whole(), "a wrong range once: from the beginning", pull)
pieces = 5


def crumbs(handler, count):
    begin = handler.from_range()
    if count < pieces:
        body = BIG[0][begin:begin + (1 << 19)]
        handler.answer(206 if begin else 200, {"Content-Range": f"bytes {begin}-{SIZE - 1}/{SIZE}"}, body, SIZE - begin)
    return count < pieces


server, pull = broken(crumbs)
ok(pull.whole(), "five cuts, each after 512 KiB, with two retries: progress counts", pull)
server, pull = broken(lambda h, n: h.answer(200, {}, b"", SIZE) or True)
is_(len(server.asked(blob_path())), 3, "a connection that is always cut is given up after the retries", pull)
like(pull.err, "given up after 3 tries", "and the message says so")



def hesitant(handler, count):
    if count == 0:
        handler.answer(200, {}, BIG[0][:HALF], SIZE)
        for at in range(HALF, SIZE - 1):  # byte by byte, until the caller hangs up
            handler.wfile.write(BIG[0][at:at + 1])
            if select.select([handler.connection], [], [], 0.05)[0]:
                break
    return count == 0


server, pull = broken(hesitant, "cancel=1")
like(pull.err, "cancelled", "a caller who has enough of it")
half = pull.blob(BLOB)
ok(0 < len(half) < SIZE and BIG[0].startswith(half), "keeps what is there", len(half))
pull = Pulled(server, "x:v1", folder=pull.folder)
ok(pull.whole(), "and gets the rest another time", pull)
is_(server.asked(blob_path())[1].get("Range"), f"bytes={len(half)}-", "and nothing but the rest")

for had, name in ((BIG[0][:HALF], "a partial download"), (BIG[0], "a whole one"), (b"", "an empty one")):
    server, folder = fresh(), tmpdir()
    path = os.path.join(folder, BLOB.split(":")[1])
    with open(path, "wb") as file:
        file.write(had)
    os.chmod(path, 0o666)
    pull = Pulled(server, "x:v1", folder=folder)
    ok(pull.whole(), f"{name} from an earlier time is taken up", pull)
    is_([headers.get("Range") for headers in server.asked(blob_path())],
        [] if len(had) == SIZE else [f"bytes={HALF}-"] if had else [None], "and only the rest is asked for")
for had, name in ((b"\0" * HALF, "wrong bytes"), (bytes(flipped), "all of it with one wrong bit"), (BIG[0] + b"tail", "too many bytes")):
    server, folder = fresh(), tmpdir()
    path = os.path.join(folder, BLOB.split(":")[1])
    with open(path, "wb") as file:
        file.write(had)
    os.chmod(path, 0o666)
    pull = Pulled(server, "x:v1", folder=folder)
    ok(pull.whole(), f"a partial download with {name}: from the beginning", pull)


def busy(status, headers=None, times=2):
    def fault(handler, count):
        if count < times:
            handler.answer(status, headers or {}, b"busy")
        return count < times
    return fault


for status in (408, 429, 500, 502, 503, 504):
    server, pull = broken(busy(status))
    ok(pull.whole() and len(pull.retries()) == 2, f"{status} twice, then the blob", pull)
    server, pull = broken(busy(status), path="/v2/x/manifests/v1")
    ok(pull.whole(), f"{status} twice, then the manifest", pull)
for status in (400, 403, 404, 410, 501):
    server, pull = broken(busy(status))
    ok(not pull.ok and len(server.asked(blob_path())) == 1, f"{status} is not tried again", pull)
server, pull = broken(busy(429, times=99))
is_(len(server.asked(blob_path())), 3, "429 for ever is given up", pull)
server, pull = broken(busy(429, {"Retry-After": "2"}, 1))
ok(pull.whole(), "429 with Retry-After", pull)
is_([line.split()[3] for line in pull.retries()], ["2000"], "says how long it waits")
ok(pull.run.seconds >= 2, "and does: a clock may be late and not early", pull)
server, pull = broken(busy(429, {"Retry-After": "86400"}, 1))
ok(not pull.ok and not pull.retries(), "a Retry-After of a day is not waited for", pull)
like(pull.err, "come back in 86400 seconds", "and said")
is_(len(server.asked(blob_path())), 1, "nor is anything asked for again")


trickled, ended = [], threading.Event()


def trickle(handler, count):
    handler.answer(200, {}, b"", SIZE)
    for i in range(600):
        handler.wfile.write(BIG[0][i:i + 1])
        trickled.append(i)
        ended.wait(0.1)
    return True


def silence(handler, count):
    """Until the pull has ended, which it has to do by itself."""
    ended.wait(60)
    handler.close_connection = True
    return True


STALL = "slower than 1024 bytes a second for 2 seconds"
server, pull = broken(trickle, "stall=2", "retries=0")
like(pull.err, STALL, "a byte every tenth of a second is a stall")
within(len(trickled), 1, 599, "which ends, long before the bytes do")
for path, what in ((None, "silence"), ("/v2/x/manifests/v1", "silence in the place of a manifest")):
    server, pull = broken(silence, "stall=2", "retries=0", path=path)
    like(pull.err, STALL, f"and so is {what}")
    ok(server.busy == 1, "which ends while the registry is silent still", server.busy)
ended.set()
done()
