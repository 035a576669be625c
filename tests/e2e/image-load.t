#!/usr/bin/python3
"""Images come in from layouts, docker-archives, tars of any compression, folders and stdin, and go out as they came; what is
no image, or one of other bytes than it says, is refused and nothing of it stays."""
import bz2
import gzip
import io
import json
import lzma
import os
import sys
import tarfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from images import *
from pf import *

store = Store()


def saved(data, name):
    path = os.path.join(tmpdir(), name)
    with open(path, "wb") as file:
        file.write(data)
    return path


lower = layer(busybox_tree(**{"old": b"gone", "keep": b"kept"}))
upper = layer({".wh.old": b"", "new": ("file", b"new", 0o640, 1000, 50), "bin/more": ("link", "busybox")})

# ---- each form gives the same image ----
loads = {
    "a layout": (layout([lower, upper]), None),
    "a layout as a tar": (saved(layout_tar([lower, upper]), "x.tar"), None),
    "a layout in gzip": (saved(gzip.compress(layout_tar([lower, upper])), "x.tar.gz"), None),
    "a docker-archive": (saved(docker_archive([lower, upper], ["some/name:1"]), "d.tar"), None),
    "stdin": ("-", layout_tar([lower, upper])),
}
ids = set()
for what, (path, stdin) in loads.items():
    run = store.image("load", "--name", "same", path, stdin=stdin)
    is_(run.code, 0, f"{what} is loaded", run)
    ids.add(run.out)
is_(len(ids), 1, "the same image each time")
run = store.run("same", "/bin/sh", "-c", "cat /keep /new; ls /old; more /keep")
is_(run.status, "exited", "it runs", run)
ok(run.out.startswith(b"keptnew"), "both layers are there", run)
ok(b"/old: No such file" in run.err, "what the upper layer deletes is gone", run)
is_(store.image("load", loads["a docker-archive"][0]).code, 0, "a docker-archive names itself")
ok("some/name:1" in store.names(), "by its tag")

# ---- tars of trees ----
tree = layer(busybox_tree(**{"a/b": ("file", b"text", 0o600, 7, 8), "a/hard": ("hard", "a/b"), "n" * 150: b"long"}))
for name, data in {"t.tar": tree, "t.tar.gz": gzip.compress(tree), "t.tar.xz": lzma.compress(tree), "t.tar.bz2": bz2.compress(tree)}.items():
    run = store.image("load", saved(data, name))
    is_((run.code, run.out.split()[:1]), (0, [b"t:latest"]), f"{name} is loaded and named by its file", run)
out = store.image("export", "t").out
source, back = members(tree), members(out)
differing = {name: (source.get(name), back.get(name)) for name in set(source) | set(back) if source.get(name) != back.get(name)}
# A folder that no entry describes is made, and written out.
ok(set(differing) <= {".", "a"}, "export of a loaded tar equals its source, owners too", store.image("export", "t"))
for name, pair in differing.items():
    diag(f"{name}: {pair}") if name not in (".", "a") else None
run = store.image("load", "--name", "again", "-", stdin=out)
is_(run.code, 0, "what was exported can be loaded", run)
is_(members(store.image("export", "again").out), back, "and comes out the same")

# ---- the image itself comes out byte for byte ----
run = store.image("export", "--format", "oci", "same")
blobs = {name: what[6] for name, what in members(run.out).items() if name.startswith("blobs/sha256/")}
is_(set(blobs), {"blobs/sha256/" + blob(data).split(":")[1] for data in blobs.values()}, "an exported layout has the blobs that it names", run)
ok(lower in blobs.values() and upper in blobs.values(), "the layers as they came")
is_(store.image("load", "--name", "same2", "-", stdin=run.out).out.split()[1], ids.pop().split()[1], "loaded again it is the same image")

# ---- a folder ----
folder = image({"bin/busybox": ("copy", "/bin/busybox"), "bin/sh": ("link", "busybox"), "etc/x": b"x", "d": ("dir", 0o700)})
os.link(os.path.join(folder, "etc/x"), os.path.join(folder, "etc/y"))
if WHO == "user":
    os.chmod(os.path.join(folder, "d"), 0o755)
run = store.image("import", folder, "folder:1")
is_(run.code, 0, "a folder is imported", run)
found = members(store.image("export", "folder:1").out)
is_(found["etc/y"][0], tarfile.LNKTYPE, "hard links stay so")
is_(store.run("folder:1", "/bin/sh", "-c", "echo ran").out, b"ran\n", "and it runs")
is_(store.image("import", "/", "root").code, 125, "the host's root is no image")

# ---- refused ----
before = (store.names(), store.entries("blobs/sha256"), store.entries("trees"))
bad = layout([lower, upper])
victim = os.path.join(bad, "blobs/sha256", blob(upper).split(":")[1])
with open(victim, "r+b") as file:
    file.seek(600)
    file.write(b"!")
small = Store()
run = small.image("load", "--name", "bad", bad)
is_(run.code, 125, "a layer with a flipped byte is refused", run)
ok(b"is another one" in run.err, "and named", run)
for what, change in (("longer", lambda file: file.write(b"\0")), ("shorter", lambda file: file.truncate(len(upper) - 1))):
    bad = layout([lower, upper])
    with open(os.path.join(bad, "blobs/sha256", blob(upper).split(":")[1]), "r+b") as file:
        file.seek(0, os.SEEK_END)
        change(file)
    run = small.image("load", "--name", "bad", bad)
    is_(run.code, 125, f"a layer of a folder that is {what} than its manifest says is refused", run)
    ok(f"should have {len(upper)}".encode() in run.err, "and told", run)
good = layout([lower, upper])
held = sum(os.path.getsize(os.path.join(good, "blobs/sha256", name)) for name in os.listdir(os.path.join(good, "blobs/sha256")))
run = small.image("load", "--name", "bad", "--limit-bytes", str(held - 1), good)
ok(run.code == 125 and f"limit of {held - 1} bytes".encode() in run.err, "a folder whose blobs are more than --limit-bytes is refused", run)
is_((small.names(), small.entries("trees"), small.entries("tmp")), ([], [], []), "and no name, tree or work stays of all these")
os.remove(os.path.join(good, "blobs/sha256", blob(upper).split(":")[1]))
run = small.image("load", "--name", "bad", good)
ok(run.code == 125 and b"missing" in run.err, "a folder that lacks a layer is refused", run)
# Nor is a config or a manifest of which one bit is another (IM09); the layers are as they were.
documents = layout_files([lower])
for name, data in documents.items():
    if not name.startswith("blobs/") or data == lower:
        continue
    flipped = layer({**documents, name: data[:-1] + bytes([data[-1] ^ 0x20])})
    run = small.image("load", "--name", "bad", "-", stdin=flipped)
    is_((run.code, run.out, small.names()), (125, b"", []), f"one bit of {'the manifest' if b'schemaVersion' in data else 'the config'}: refused", run)
    spaced = layer({**documents, name: data.replace(b'": ', b'":\t', 1)})
    run = small.image("load", "--name", "bad", "-", stdin=spaced)
    ok(run.code == 125 and b"is another one" in run.err, "also one that makes no difference to what it says", run)
# The config speaks of another layer than the manifest has.
lying = layer({name: data.replace(blob(lower).encode(), blob(upper).encode()) if name.endswith(".json") and name != "manifest.json" else data
               for name, (_, _, _, _, _, _, data) in members(docker_archive([lower], ["x:1"])).items()})
for what, data, says in (
        ("no archive", b"hello, this is no tar " * 100, b"archive"),
        ("an empty file", b"", b"archive"),
        ("a docker-archive without its layer", layer({"manifest.json": json.dumps([{"Config": "c.json", "RepoTags": ["x:1"], "Layers": ["l"]}]).encode()}),
         b"missing"),
        ("a layout that names a digest that is a path", layer({"oci-layout": b"{}", "index.json": json.dumps({"schemaVersion": 2, "manifests": [
            {"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": "sha256:../../../../etc/passwd", "size": 1}]}).encode()}), b"sha256"),
        ("a layer that is not the config's", lying, b"diff_id"),
        ("duplicate keys", layer({"oci-layout": b"{}", "index.json": b'{"schemaVersion": 2, "manifests": [], "manifests": []}'}), b"index"),
        ("neither index nor manifest", layer({"oci-layout": b"{}"}), b"neither")):
    run = small.image("load", "--name", "bad", saved(data, "bad.tar"))
    is_((run.code, run.out), (125, b""), f"{what}: refused", run)
    ok(says in run.err, f"{what}: says why", run)

# ---- what is written about an image counts, too, and a file's attributes are written once ----


def long_record(links, symlinks):
    to = io.BytesIO()
    with tarfile.open(fileobj=to, mode="w", format=tarfile.PAX_FORMAT) as tar:
        info = tarfile.TarInfo("f")
        info.pax_headers = {f"SCHILY.xattr.user.a{number}": "\x01" * 3900 for number in range(4)}
        tar.addfile(info)
        for number in range(links):
            info = tarfile.TarInfo(f"h{number}")
            info.type, info.linkname = tarfile.LNKTYPE, "f"
            tar.addfile(info)
        for number in range(symlinks):
            info = tarfile.TarInfo(f"s{number}")
            info.type, info.linkname = tarfile.SYMTYPE, "\x01" * 4000
            tar.addfile(info)
    return to.getvalue()


record = Store()
for what, data in ("attributes of a file with 400 names", long_record(400, 0)), ("long targets of 700 links", long_record(0, 700)):
    path = saved(gzip.compress(data), "record.tar.gz")
    run = record.image("load", "--name", "small", "--limit-bytes", "8M", path)
    ok(run.code == 125 and b"limit bytes" in run.err, f"{what}: they count against the limit", run)
    is_(record.image("load", "--name", "large", path).code, 0, f"{what}: without it the image is taken")
    is_(record.image("verify", "large").code, 0, "and what is recorded is what is there")
is_(record.image("load", "--name", "linked", saved(long_record(400, 0), "l.tar")).code, 0, "a file with many names")
size = os.path.getsize(os.path.join(record.tree("linked"), "record"))
ok(size < 200000, "its attributes are in the record once", f"{size} bytes")
out = record.image("export", "linked").out
is_(out.count(b"SCHILY.xattr.user.a0="), 1, "and go out once")
is_(record.image("load", "--name", "back", "-", stdin=out).code, 0, "what went out comes in")
is_(record.image("verify", "back").code, 0, "and is whole")

# ---- a config that is known, beside other layers ----


def with_manifest(change):
    """A layout of lower and upper whose manifest is changed."""
    folder = layout([lower, upper])
    place = os.path.join(folder, "index.json")
    with open(place) as file:
        index = json.load(file)
    blobs = os.path.join(folder, "blobs/sha256")
    with open(os.path.join(blobs, index["manifests"][0]["digest"].split(":")[1])) as file:
        manifest = json.load(file)
    for data in change(manifest):
        with open(os.path.join(blobs, blob(data).split(":")[1]), "wb") as file:
            file.write(data)
    data = json.dumps(manifest).encode()
    with open(os.path.join(blobs, blob(data).split(":")[1]), "wb") as file:
        file.write(data)
    index["manifests"][0].update(digest=blob(data), size=len(data))
    with open(place, "w") as file:
        json.dump(index, file)
    return folder


def packed(manifest):
    data = gzip.compress(upper)
    manifest["layers"][1] = {"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", "digest": blob(data), "size": len(data)}
    return [data]


def changed(key, **values):
    def change(manifest):
        (manifest["config"] if key is None else manifest["layers"][key]).update(values)
        return []
    return change


def reordered(*numbers):
    def change(manifest):
        manifest["layers"] = [manifest["layers"][number] for number in numbers]
        return []
    return change


known = Store()
is_(known.image("load", "--name", "known", layout([lower, upper])).code, 0, "an image is loaded")
for what, change in {
        "one of the layers is another": reordered(0, 0),
        "they are the other way round": reordered(1, 0),
        "one is missing": reordered(0),
        "there are none": reordered(),
        "a size is wrong": changed(0, size=5),
        "a tar is said to be packed": changed(0, mediaType="application/vnd.oci.image.layer.v1.tar+gzip"),
        "the config's size is wrong": changed(None, size=5)}.items():
    run = known.image("load", "--name", "other", with_manifest(change))
    is_((run.code, run.out, known.names()), (125, b"", ["known:latest"]), f"the same config, and {what}: refused", run)


def called_tar(manifest):
    data = packed(manifest)
    manifest["layers"][1]["mediaType"] = "application/vnd.oci.image.layer.v1.tar"
    return data


def packed_twice(manifest):
    data = gzip.compress(gzip.compress(upper))
    manifest["layers"][1] = {"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", "digest": blob(data), "size": len(data)}
    return [data]


for what, change in {"is said to be a tar": called_tar, "is packed twice": packed_twice}.items():
    run = known.image("load", "--name", "other", with_manifest(change))
    is_((run.code, run.out, known.names()), (125, b"", ["known:latest"]), f"a layer that {what}: refused", run)
run = known.image("load", "--name", "other", with_manifest(packed))
is_((run.code, len(known.entries("trees"))), (0, 1), "the same layers packed otherwise are the same image", run)
is_(known.image("verify", "known", "other").code, 0, "and both are whole")

# ---- a blob that was damaged is replaced by a good one ----
path = os.path.join(known.path, "blobs/sha256", blob(lower).split(":")[1])
for what, size in ("other bytes", len(lower)), ("fewer", 100), ("none", 0):
    os.chmod(path, 0o600)
    with open(path, "wb") as file:
        file.write(bytes(size))
    is_(known.image("verify", "known").code, 1, f"a blob with {what}: verify sees it")
    is_(known.image("load", "--name", "known", layout([lower, upper])).code, 0, "it is loaded again")
    is_(known.image("verify", "known").code, 0, "and whole")

# ---- an archive of an image does not grow beyond the limits while it is taken apart ----
zeros = "blobs/sha256/" + "a" * 64
bomb = gzip.compress(layer({zeros: bytes(96 << 20)}))
run = small.image("load", "--name", "bad", "--limit-ratio", "100", saved(bomb, "bomb.tar.gz"))
ok(run.code == 125 and b"limit ratio" in run.err, "an archive that grows 1000 times: refused by the ratio", run)
run = small.image("load", "--name", "bad", "--limit-bytes", "32M", "--limit-ratio", "100000", saved(bomb, "bomb.tar.gz"))
ok(run.code == 125 and b"--limit-bytes" in run.err, "or by its bytes", run)
for holes, what in ((b"0\n", "nothing but a hole"), (b"1\n1073741824\n512\n", "a hole in front")):
    info = tarfile.TarInfo("GNUSparseFile.0/x")
    info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": zeros, "GNU.sparse.realsize": str((1 << 30) + 512)}
    data = holes.ljust(512, b"\0") + bytes(512 if len(holes) > 2 else 0)
    info.size = len(data)
    to = io.BytesIO()
    with tarfile.open(fileobj=to, mode="w", format=tarfile.PAX_FORMAT) as tar:
        tar.addfile(info, io.BytesIO(data))
    run = small.image("load", "--name", "bad", saved(to.getvalue(), "sparse.tar"))
    ok(run.code == 125 and b"holes" in run.err, f"a member that is {what}: refused", run)

# ---- a tree that has at its top what an archive of an image has ----
for first in ({"manifest.json": b"{}"}, {"index.json": b"{}"}, {"blobs": ("dir", 0o755), "blobs/x": b"x"}, {"repositories": b"", "blobs/sha256": ("dir", 0o755)}):
    run = small.image("load", "--name", "tree", saved(layer({**first, **busybox_tree()}), "tree.tar"))
    is_((run.code, small.run("tree", "/bin/cat", "/" + list(first)[0]).code in (0, 1)), (0, True), f"a tree with {list(first)[0]} in front is one", run)
like_both = saved(layer({"manifest.json": b"{}"}), "both.tar")
is_(small.image("load", like_both).code, 125, "one of nothing but that is no image")
is_(small.image("load", "--as", "tree", like_both).code, 0, "--as tree: it is a tree")
files = members(layout_tar([lower]))
readme = layer({**{name: what[6] for name, what in files.items()}, "README": b"read me"})
run = small.image("load", "--name", "readme", saved(readme, "readme.tar"))
ok(run.code == 125 and b"--as" in run.err, "a layout with what no layout has: refused, and the message says what helps", run)
is_(small.image("load", "--name", "readme", "--as", "layout", saved(readme, "readme.tar")).code, 0, "--as layout: it is one")
own = layer({"conf": config([lower]), "one": lower, "manifest.json": json.dumps([{"Config": "conf", "RepoTags": ["own:1"], "Layers": ["one"]}]).encode()})
is_(small.image("load", "--as", "docker", saved(own, "own.tar")).code, 0, "--as docker: with names of its own")
is_(small.image("load", "--as", "docker", layout([lower])).code, 125, "a folder is a layout")
is_(small.image("load", "--as", "zip", like_both).code, 125, "--as something else is refused")
for name in small.names():
    small.image("remove", name)

# ---- a name with a digest is what a pull verified, and nothing else ----
pin = f"127.0.0.1:5000/x@{blob(b'another')}"
bare = blob(b"another")
for what, args in (
        ("a layout that calls itself by a digest", [layout([lower], ref=pin)]),
        ("a docker-archive that does", [saved(docker_archive([lower], [pin]), "pin.tar")]),
        ("one with a tag before it", [saved(docker_archive([lower], [pin.replace("@", ":1@")]), "pin2.tar")]),
        ("--name with a digest", ["--name", pin, layout([lower])]),
        ("a layout that calls itself an id", [layout([lower], ref=bare)]),
        ("--name with an id", ["--name", bare, layout([lower])])):
    run = small.image("load", *args)
    is_((run.code, run.out, small.names()), (125, b"", []), f"{what}: no name for it", run)
is_(small.image("load", "--name", "control", layout([lower], ref=pin)).code, 0, "under another name it is taken")
for to in (pin, bare):
    is_((small.image("tag", "control", to).code, small.names()), (125, ["control:latest"]), f"tag {to}: refused")
small.image("remove", "control")
small.image("gc")

run = small.image("load", "--limit-bytes", "1K", saved(tree, "t.tar"))
is_(run.code, 125, "what is larger than the limit is refused", run)
run = small.image("load", "--limit-depth", "257", saved(tree, "t.tar"))
ok(run.code == 125 and b"from 1 to 256" in run.err, "a limit that the unpacker cannot keep is refused as such", run)
many = io.BytesIO()
with tarfile.open(fileobj=many, mode="w") as tar:
    for name in [f"d/{i}" for i in range(12000)] + ["d/.wh..wh..opq"] * 12000:
        tar.addfile(tarfile.TarInfo(name))
run = small.image("load", "--name", "many", "--limit-time", "25", layout([layer({"d/0": b"old"}), many.getvalue()]))
is_(run.code, 0, "a folder of 12000 names, 12000 times opaque, is no work for minutes", run)
small.image("remove", "many")
small.image("gc")
run = small.image("load", "--limit-time", "0", saved(tree, "t.tar"))
ok(run.code == 125 and b"--limit-time" in run.err, "no time at all is no limit", run)
run = small.image("load", "--limit-entries", "3", saved(tree, "t.tar"))
is_(run.code, 125, "what has more entries than the limit is refused", run)
is_((small.names(), small.entries("trees"), small.entries("tmp")), ([], [], []), "nothing of a refused image stays but blobs that were right")
small.image("gc")
is_(small.entries("blobs/sha256"), [], "and gc takes those")
is_((store.names(), store.entries("blobs/sha256"), store.entries("trees")), before, "the other store is as it was")
run = small.image("load", "-", stdin=gzip.compress(tree))
is_(run.code, 125, "stdin has no name of its own", run)
ok(b"--name" in run.err, "and the message says what gives one", run)

# ---- progress for machines ----
run = small.image("load", "--json", "--name", "j", saved(tree, "t.tar"))
lines = [json.loads(line) for line in run.out.splitlines()]
is_((lines[0]["event"], lines[-1]["event"], lines[-1]["name"]), ("begin", "stored", "j:latest"), "--json: one document a line", run)
ok(b"\x1b" not in run.err and b"\r" not in run.err, "no bar where there is no terminal", run)
done()
