"""OCI layouts of unpacked trees, written as a stream: gzipped layers by tar, for real software and measurements."""
import gzip
import hashlib
import json
import os
import subprocess

__all__ = ["Layout", "C_ALONE"]

OCI = "application/vnd.oci.image."
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

# What build/rootfs/languages has besides Python and C, words for tar.
C_ALONE = ["--exclude=./usr/lib/" + name for name in ("jvm", "go-*", "rustlib", "*/libLLVM*", "*/librustc*", "*/libnode*")] + \
    ["--exclude=./usr/share/" + name for name in ("go-*", "nodejs", "cmake*", "perl*")]


class Hashed:
    """A file that knows the digest of what was written to it."""

    def __init__(self, file):
        self.file, self.hash, self.size = file, hashlib.sha256(), 0

    def write(self, data):
        self.hash.update(data)
        self.size += len(data)
        return self.file.write(data)

    def flush(self):
        self.file.flush()

    def digest(self):
        return "sha256:" + self.hash.hexdigest()


class Layout:
    """A folder; add layers, then images of them."""

    def __init__(self, folder):
        self.folder, self.manifests = folder, []
        os.makedirs(os.path.join(folder, "blobs/sha256"))
        self._write("oci-layout", {"imageLayoutVersion": "1.0.0"})

    def _path(self, digest):
        return os.path.join(self.folder, "blobs/sha256", digest.split(":")[1])

    def _write(self, name, document):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            json.dump(document, file)

    def _blob(self, kind, document):
        data = json.dumps(document).encode()
        digest = "sha256:" + hashlib.sha256(data).hexdigest()
        with open(self._path(digest), "wb") as file:
            file.write(data)
        return {"mediaType": OCI + kind + "+json", "digest": digest, "size": len(data)}

    def layer(self, tree, *words, level=1):
        """What `tar -C TREE WORDS` writes, root's: (descriptor, diff_id, path of the blob)."""
        part = os.path.join(self.folder, "part")
        inner = hashlib.sha256()
        with open(part, "wb") as file:
            outer = Hashed(file)
            tar = ["tar", "-C", tree, "--numeric-owner", "--owner=0", "--group=0", "--sort=name", "-cf", "-", *words]
            with subprocess.Popen(tar, stdout=subprocess.PIPE) as process, \
                    gzip.GzipFile(fileobj=outer, mode="wb", compresslevel=level, mtime=0) as packed:
                while data := process.stdout.read(1 << 20):
                    inner.update(data)
                    packed.write(data)
        if process.returncode:
            raise RuntimeError(f"tar of {tree} failed")
        path = self._path(outer.digest())
        os.rename(part, path)
        return {"mediaType": OCI + "layer.v1.tar+gzip", "digest": outer.digest(), "size": outer.size}, "sha256:" + inner.hexdigest(), path

    def image(self, ref, layers, **run):
        """An image of layers under the name ref; run is what a run takes of it (Entrypoint, Cmd, User)."""
        machine = os.uname().machine
        config = self._blob("config.v1", {
            "os": "linux", "architecture": ARCHITECTURES.get(machine, machine), "config": {"Env": [PATH], **run},
            "rootfs": {"type": "layers", "diff_ids": [inner for _, inner, _ in layers]}})
        manifest = self._blob("manifest.v1", {"schemaVersion": 2, "mediaType": OCI + "manifest.v1+json", "config": config,
                                              "layers": [descriptor for descriptor, _, _ in layers]})
        self.manifests.append({**manifest, "annotations": {"org.opencontainers.image.ref.name": ref}})
        self._write("index.json", {"schemaVersion": 2, "manifests": self.manifests})
