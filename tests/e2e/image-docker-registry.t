#!/usr/bin/python3
"""A real registry (Debian's docker-registry), filled by skopeo from an OCI layout: OCI and Docker manifests, an index, basic
authentication, tokens of a token server, and a download that goes on where it was."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from registry import *
from pf import *
from fake_registry import *
from real_registry import *


def blob(layout, data):
    write(os.path.join(layout, "blobs/sha256", digest(data).split(":")[1]), data)
    return data


def image(layout, layers, architecture):
    """The manifest of an image whose parts are in the layout."""
    config = blob(layout, json.dumps({"os": "linux", "architecture": architecture, "config": {"Cmd": ["/x"]},
                                      "rootfs": {"type": "layers", "diff_ids": [inner for _, inner in layers]}}).encode())
    return blob(layout, json.dumps({"schemaVersion": 2, "mediaType": MANIFEST, "config": media(CONFIG, config),
                                    "layers": [media(GZIP, blob(layout, data)) for data, _ in layers]}).encode())


def make_layout():
    layout = tmpdir()
    amd64, arm64 = image(layout, (BIG, SMALL), "amd64"), image(layout, (SMALL,), "arm64")
    both = blob(layout, json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": [
        media(MANIFEST, arm64, platform={"os": "linux", "architecture": "arm64"}),
        media(MANIFEST, amd64, platform={"os": "linux", "architecture": "amd64"})]}).encode())
    named = {"one": media(MANIFEST, amd64), "both": media(INDEX, both)}
    write(os.path.join(layout, "oci-layout"), {"imageLayoutVersion": "1.0.0"})
    write(os.path.join(layout, "index.json"), {"schemaVersion": 2, "manifests": [
        {**what, "annotations": {"org.opencontainers.image.ref.name": name}} for name, what in named.items()]})
    return layout, digest(amd64), digest(both)


LAYOUT, ONE, BOTH = make_layout()
needed()
real = Real()
real.fill(LAYOUT, "one")
real.fill(LAYOUT, "one", "--format", "v2s2", to="docker")
real.fill(LAYOUT, "both", "--multi-arch", "all")

got = Pulled(real, "test/one:v1")
ok(got.whole(BIG, SMALL), "an OCI image, byte for byte", got)
is_(got.out[0], f"manifest {ONE} named {ONE}", "its digest is the layout's")
ok(Pulled(real, f"test/one@{ONE}").whole(BIG, SMALL), "by digest")
got = Pulled(real, "test/docker:v1")
ok(got.whole(BIG, SMALL), "a Docker image (version 2, schema 2)", got)
with open(os.path.join(got.folder, "manifest.json"), encoding="utf-8") as file:
    is_(json.load(file)["mediaType"], "application/vnd.docker.distribution.manifest.v2+json", "which it is")
got = Pulled(real, "test/both:v1")
ok(got.whole(BIG, SMALL), "an index", got)
is_(got.out[0], f"manifest {ONE} named {BOTH}", "and which manifest of it")
ok(Pulled(real, "test/both:v1", "platform=linux/arm64").whole(SMALL), "another platform of it")
like(Pulled(real, "test/none:v1").err, r"not found \(404\)", "a repository that is not there")
like(Pulled(real, "test/one:v9").err, r"not found \(404\)", "a tag that is not there")
folder = tmpdir()
path = os.path.join(folder, BLOB.split(":")[1])
write(path, BIG[0][:HALF])
os.chmod(path, 0o666)
ok(Pulled(real, "test/one:v1", folder=folder).whole(BIG, SMALL), "a partial download is taken up")
write(path, b"\0" * HALF)
os.chmod(path, 0o666)
ok(Pulled(real, "test/one:v1", folder=folder).whole(BIG, SMALL), "a partial download of other bytes begins anew")
real.end()

real = Real(password=True)
real.fill(LAYOUT, "one", "--dest-creds", f"{USER}:{PASSWORD}")
like(Pulled(real, "test/one:v1").err, "credentials are needed", "a registry with a password: none")
got = Pulled(real, "test/one:v1", f"auth={auth_file({real.name: {'auth': basic(USER, 'wrong')}})}")
like(got.err, r"still refused \(401\)", "a wrong one")
got = Pulled(real, "test/one:v1", f"auth={auth_file({real.name: {'auth': basic(USER, PASSWORD)}})}")
ok(got.whole(BIG, SMALL), "the right one", got)
real.end()

# ---- Bearer: the registry asks for a token of a server that signs, and checks what it gets ----
server = Registry()
tokens = Tokens(server)
real = Real(auth=tokens.auth(), data=real.data)
like(Pulled(real, "test/one:v1").err, "token: credentials are needed", "a registry that wants a token: no credentials for one")
got = Pulled(real, "test/one:v1", f"auth={auth_file({real.name: {'auth': basic(USER, 'wrong')}})}")
like(got.err, "token: the credentials are refused", "wrong ones")
server.log.clear()
got = Pulled(real, "test/one:v1", f"auth={auth_file({real.name: {'auth': basic(USER, PASSWORD)}})}")
ok(got.whole(BIG, SMALL), "the right ones", got)
is_(len(server.asked("/token")), 1, "one token for manifest and blobs")
like(server.log[0][0], r"(?i)scope=repository(%3A|:)test(%2F|/)one(%3A|:)pull$", "for a pull of that repository and for nothing else")
done()
