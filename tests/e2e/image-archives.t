#!/usr/bin/python3
"""Archives as others write them keep their names: `docker save` since version 25, which is a layout and a docker-archive in one, with one
image or several; a name that cannot be is refused before the work; what a folder has and no image can hold is refused, not lost; attributes
go out as they came in."""
import io
import json
import os
import sys
import tarfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from images import *
from pf import *

OCI = "application/vnd.oci.image."
store = Store()
tree = layer(busybox_tree())


def member(data):
    return "blobs/sha256/" + blob(data).split(":")[1]


def descriptor(kind, data):
    return {"mediaType": OCI + kind, "digest": blob(data), "size": len(data)}


def docker_save(images):
    """{name: word that it says}, as `docker save` of version 25 and later writes them: io.containerd.image.name has the whole name, and
    org.opencontainers.image.ref.name the tag alone."""
    files, documents, entries = {"blobs/": ("dir", 0o755), "blobs/sha256/": ("dir", 0o755), member(tree): tree}, [], []
    for name, word in images.items():
        conf = config([tree], Cmd=["/bin/echo", word])
        manifest = json.dumps({"schemaVersion": 2, "mediaType": OCI + "manifest.v1+json", "config": descriptor("config.v1+json", conf),
                               "layers": [descriptor("layer.v1.tar", tree)]}).encode()
        files.update({member(conf): conf, member(manifest): manifest})
        documents.append({"Config": member(conf), "RepoTags": [name], "Layers": [member(tree)]})
        whole = name if "." in name.split("/")[0] else "docker.io/" + ("" if "/" in name else "library/") + name
        entries.append({**descriptor("manifest.v1+json", manifest),
                        "annotations": {"io.containerd.image.name": whole, "org.opencontainers.image.ref.name": name.split(":")[-1]}})
    files["index.json"] = json.dumps({"schemaVersion": 2, "mediaType": OCI + "index.v1+json", "manifests": entries}).encode()
    files["manifest.json"] = json.dumps(documents).encode()
    return layer({**files, "oci-layout": b'{"imageLayoutVersion": "1.0.0"}', "repositories": b"{}"})


def load(data, *flags):
    return store.image("load", *flags, "-", stdin=data)


def forget():
    for name in store.names():
        store.image("remove", name)


# ---- names ----
for name in ("one:latest", "team/two:3", "registry.test/three:latest"):
    run = load(docker_save({name: "word"}))
    is_((run.code, store.names()), (0, [name]), f"{name}, saved alone, is called so", run)
    is_(store.run(name).out, b"word\n", "and runs by it")
    forget()
both = docker_save({"one:latest": "first", "team/two:latest": "second"})
run = load(both)
ok(run.code == 125 and b"one:latest" in run.err and b"team/two:latest" in run.err and b"--ref" in run.err, "two with one tag: both names are told", run)
for ref, name, word in (("one:latest", "one:latest", b"first\n"), ("docker.io/library/one:latest", "one:latest", b"first\n"),
                        ("team/two:latest", "team/two:latest", b"second\n"), ("docker.io/team/two:latest", "team/two:latest", b"second\n")):
    run = load(both, "--ref", ref)
    is_((run.code, store.names(), store.run(name).out), (0, [name], word), f"--ref {ref}", run)
    forget()
run = load(docker_save({"one:1": "first", "one:2": "second"}), "--ref", "2")
is_((run.code, store.names()), (0, ["one:2"]), "--ref by the tag, where that is enough", run)
forget()
for data, says in ((both, b"one of the name one:latest"), (layout_tar([tree]), b"one of the name latest")):
    run = load(data, "--name", "x", "--ref", "nothing:1")
    ok(run.code == 125 and b"no image of the name nothing:1" in run.err and says in run.err, "--ref that nothing has: what there is is told", run)
run = load(layout_tar([tree], ref=""), "--name", "x", "--ref", "nothing")
ok(run.code == 125 and b"leave --ref nothing out" in run.err, "where nothing has a name, that is told", run)

# ---- an index for other machines says for which ----
other = json.loads(layout_files([tree])["index.json"])
other["manifests"][0]["platform"] = {"os": "linux", "architecture": "z80\x1b[1m"}
folder = layout([tree])
with open(os.path.join(folder, "index.json"), "w", encoding="utf-8") as file:
    json.dump(other, file)
run = store.image("load", "--name", "x", folder)
ok(run.code == 125 and b"but one for linux/z80\\x1b[1m: --platform" in run.err, "what there is for another platform is told", run)

# ---- an index within is what its digest says, though no blob of the store ----
files = layout_files([tree])
inner = json.dumps({"schemaVersion": 2, "mediaType": OCI + "index.v1+json", "manifests": json.loads(files["index.json"])["manifests"]}).encode()
files["index.json"] = json.dumps({"schemaVersion": 2, "manifests": [descriptor("index.v1+json", inner)]}).encode()
is_(load(layer({**files, member(inner): inner}), "--name", "x").code, 0, "control: an index within is followed")
for what, data in ("with other bytes", inner.replace(b'": ', b'":\t', 1)), ("that is longer", inner + b" "):
    run = load(layer({**files, member(inner): data}), "--name", "y")
    is_((run.code, store.names()), (125, ["x:latest"]), f"one {what} is refused", run)
forget()

# ---- a name that cannot be is refused before anything is read ----
folder = image({"a": b"x"})
for words in (["import", folder, "odd name"], ["load", "--name", "odd name", "/dev/null"], ["build-debian", "odd name"],
              ["import", folder, f"r.test/x@{blob(b'x')}"]):
    run = store.image(*words)
    ok(run.code == 125 and b"reading" not in run.err and (b"not an image's name" in run.err or b"only a pull" in run.err), f"{words[0]}: refused by the name", run)
if WHO == "user":
    closed = tmpdir(mode=0o700)
    run = store.image("build-debian", "closed", env={"TMPDIR": closed})
    ok(run.code == 125 and f"TMPDIR {closed} may not be entered by others".encode() in run.err and store.names() == [], "build-debian: refused where mmdebstrap's own ids cannot work, with the way out", run)
# Only a whole digest is an id.
for name in ("sha256", "sha256:abc"):
    is_(store.image("import", folder, name).code, 0, f"{name} is a name")
    is_((store.image("inspect", name).code, store.image("verify", name).code), (0, 0), "by which the image is found")
    run = store.image("remove", name)
    is_((run.code, store.names()), (0, []), "and removed", run)

# ---- what no image can hold ----
for name in (".wh.x", "d/.wh..wh..opq", "d/.wh.e/f"):
    run = store.image("import", image({"a": b"x", name: b"lost"}), "lost")
    ok(run.code == 125 and b".wh." in run.err and b"rename it" in run.err, f"a folder with {name} is refused", run)

# ---- attributes ----
folder = image({"a": b"x"})
try:
    for name, value in {"user.b": b"2", "user.a": b"1", "user.key=%41": b"\0v=\n"}.items():
        os.setxattr(os.path.join(folder, "a"), name, value)
    with_xattrs = True
except OSError as error:
    with_xattrs = False
    skip(f"the file system of the tests takes no attributes: {error}")
if with_xattrs:
    is_(store.image("import", folder, "x").code, 0, "a folder with attributes is imported")
    path = os.path.join(store.tree("x"), "rootfs/a")
    is_({name: os.getxattr(path, name) for name in os.listxattr(path)}, {"user.a": b"1", "user.b": b"2", "user.key=%41": b"\0v=\n"},
        "one with '=' in its name, too")
    out = store.image("export", "x").out
    run = store.image("load", "--name", "back", "-", stdin=out)
    is_((run.code, store.image("export", "back").out == out), (0, True), "what went out comes in and goes out the same", run)
    to = io.BytesIO()
    with tarfile.open(fileobj=to, mode="w", format=tarfile.PAX_FORMAT) as tar:
        info = tarfile.TarInfo("f")
        info.pax_headers = {f"SCHILY.xattr.user.{name}": name for name in ("c", "a", "b")}
        tar.addfile(info)
    store.image("load", "--name", "order", "-", stdin=to.getvalue())
    with tarfile.open(fileobj=io.BytesIO(store.image("export", "order").out)) as tar:
        is_([key for key in tar.getmember("f").pax_headers if "xattr" in key], [f"SCHILY.xattr.user.{name}" for name in ("c", "a", "b")], "in their order")
done()
