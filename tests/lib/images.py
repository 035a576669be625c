"""Images for tests: a store of the test's own, trees as tars, layouts and docker-archives written by hand."""
import hashlib
import io
import json
import os
import tarfile

import pf

__all__ = ["Store", "blob", "layer", "layout", "layout_files", "layout_tar", "docker_archive", "config", "busybox_tree", "members"]


class Store:
    """A store that belongs to whom the test runs as."""

    def __init__(self):
        self.path = os.path.join(pf.tmpdir(mode=0o700), "store")
        self.env = {"PINFOLD_STORE": self.path}

    def image(self, *args, **options):
        return pf.pinfold("image", *args, env={**self.env, **options.pop("env", {})}, **options)

    def start(self, *args, **options):
        return pf.start(*args, env={**self.env, **options.pop("env", {})}, **options)

    def run(self, *args, **options):
        return pf.pinfold("run", *args, env={**self.env, **options.pop("env", {})}, **options)

    def names(self):
        return self.image("list", "--names").out.decode().split()

    def entries(self, folder):
        return sorted(os.listdir(os.path.join(self.path, folder)))

    def tree(self, name):
        """The folder trees/HEX of a stored name."""
        document = json.loads(self.image("inspect", "--json", name).out)
        return os.path.join(self.path, "trees", document["id"].split(":")[1])


def blob(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def layer(entries):
    """A tar, as bytes: {name: bytes | ("link", T) | ("hard", T) | ("dir", MODE) | ("file", BYTES, MODE, UID, GID)}."""
    to = io.BytesIO()
    with tarfile.open(fileobj=to, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, what in entries.items():
            info = tarfile.TarInfo(name)
            info.mtime, info.mode, data = 1600000000, 0o644, b""
            if isinstance(what, bytes):
                data, info.mode = what, 0o755 if "bin/" in name else 0o644
            elif what[0] == "link":
                info.type, info.linkname, info.mode = tarfile.SYMTYPE, what[1], 0o777
            elif what[0] == "hard":
                info.type, info.linkname = tarfile.LNKTYPE, what[1]
            elif what[0] == "dir":
                info.type, info.mode = tarfile.DIRTYPE, what[1]
            else:
                data, info.mode, info.uid, info.gid = what[1:]
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return to.getvalue()


def busybox_tree(**more):
    with open("/bin/busybox", "rb") as file:
        busybox = file.read()
    names = ("sh", "cat", "echo", "id", "ls", "pwd", "env", "sleep", "stat", "true", "whoami")
    tree = {"bin": ("dir", 0o755), "bin/busybox": busybox, "etc": ("dir", 0o755)}
    tree.update({f"bin/{name}": ("link", "busybox") for name in names})
    tree["etc/passwd"] = b"root:x:0:0:root:/root:/bin/sh\napp:x:1234:1235:app:/:/bin/sh\n5000:x:77:78::/:/bin/sh\nbig:x:70000:1::/:/bin/sh\n"
    tree["etc/group"] = b"root:x:0:\nstaff:x:50:\n"
    tree["work"] = ("dir", 0o755)
    return {**tree, **more}


def config(layers, **run):
    return json.dumps({"architecture": "amd64" if os.uname().machine == "x86_64" else "arm64", "os": "linux", "config": run,
                       "rootfs": {"type": "layers", "diff_ids": [blob(data) for data in layers]}}).encode()


def _documents(layers, **run):
    conf = config(layers, **run)
    manifest = json.dumps({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                           "config": {"mediaType": "application/vnd.oci.image.config.v1+json", "digest": blob(conf), "size": len(conf)},
                           "layers": [{"mediaType": "application/vnd.oci.image.layer.v1.tar", "digest": blob(data), "size": len(data)}
                                      for data in layers]}).encode()
    return conf, manifest


def layout_files(layers, ref="latest", **run):
    conf, manifest = _documents(layers, **run)
    index = json.dumps({"schemaVersion": 2, "manifests": [
        {"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": blob(manifest), "size": len(manifest),
         "annotations": {"org.opencontainers.image.ref.name": ref}}]}).encode()
    files = {"oci-layout": b'{"imageLayoutVersion": "1.0.0"}', "index.json": index}
    for data in (conf, manifest, *layers):
        files["blobs/sha256/" + blob(data).split(":")[1]] = data
    return files


def layout(layers, ref="latest", **run):
    """An OCI layout as a folder; its path."""
    folder = pf.tmpdir()
    for name, data in layout_files(layers, ref, **run).items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
    return folder


def layout_tar(layers, ref="latest", **run):
    return layer(layout_files(layers, ref, **run))


def docker_archive(layers, tags, **run):
    conf = config(layers, **run)
    names = [f"{blob(data).split(':')[1]}/layer.tar" for data in layers]
    entries = {name: data for name, data in zip(names, layers)}
    entries[blob(conf).split(":")[1] + ".json"] = conf
    entries["manifest.json"] = json.dumps([{"Config": blob(conf).split(":")[1] + ".json", "RepoTags": tags, "Layers": names}]).encode()
    return layer(entries)


def members(data):
    """{name: (type, mode, uid, gid, mtime, link, contents)} of a tar; of a hard link its type and link alone, the rest is its target's."""
    found = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        for info in tar:
            contents = tar.extractfile(info).read() if info.isreg() else b""
            name = info.name.removeprefix("./").rstrip("/") or "."
            found[name] = (info.type, 0, 0, 0, 0, info.linkname, b"") if info.islnk() else (info.type, info.mode, info.uid, info.gid, info.mtime, info.linkname, contents)
    return found
