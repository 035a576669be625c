#!/usr/bin/python3
"""A source is fetched inside a sandbox that reaches the declared host and nothing else: git at any ref, an archive by its digest or the one seen first; within caps."""
import hashlib
import io
import os
import shutil
import sys
import tarfile
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet
from egress_software import on_host
from git_server import GitServer, git
from jobs import Jobs, stage
from pf import *
from software import tools

image_ = tools("git", "curl", "tar")
SHOW = "cd /run/input/source && find . | sort && find . -type f | sort | xargs -r cat"


def job_of(source, **more):
    return {"image": image_, "source": source, "analyse": "none", "stages": [stage("show", "sh", "-c", SHOW, inputs={"read-only": ["@source"]})], **more}


with Internet() as net:
    served = GitServer(net, {"git.example": "93.184.216.40", "elsewhere.example": "93.184.216.41"})
    jobs = Jobs()
    URL = "https://git.example/"
    first = served.repository("a", {"f": b"1\n", "d/run": ("run", b"#!/bin/sh\n"), "l": ("link", "d/run")})
    git("tag", "-a", "-m", "v1", "v1", cwd=os.path.join(served.folder, "work-a"))
    git("push", "-q", os.path.join(served.served, "a.git"), "v1", cwd=os.path.join(served.folder, "work-a"))
    second = served.repository("a", {"f": b"2\n"})

    def run(source, *flags, **more):
        return jobs.run(job_of({"ca": served.ca, **source} if "folder" not in source else source, **more), *flags, net=net)

    # ---- git ----
    TREE = b".\n./d\n./d/run\n./f\n./l\n"
    for ref, commit, content in ((None, second, b"2\n"), ("main", second, b"2\n"), ("refs/heads/main", second, b"2\n"), ("v1", first, b"1\n"), (first, first, b"1\n")):
        job = run({"git": URL + "a.git", **({"ref": ref} if ref else {})})
        is_((job.status, job.out), ("succeeded", TREE + b"#!/bin/sh\n" + content), f"git at {'its head' if ref is None else ref[:15]}: the tree, and nothing of git in it", job)
        is_((job.result["source"]["commit"], job.result["source"]["ref"]), (commit, ref or "HEAD"), "and its commit", job)
    rows = job.stage("fetch")["result"]["egress"]
    is_({row["name"] for row in rows}, {"git.example"}, "the declared host is all that was reached", job)
    is_(job.stage("show")["result"]["egress"], [], "later stages reach nothing", job)
    ok(first != second and not any("history" in row for row in rows), "two commits")
    for ref in ("none", "0" * 40):
        job = run({"git": URL + "a.git", "ref": ref})
        is_((job.status, job.result["cause"]["stage"], job.stage("show")["state"], job.result["source"]["commit"]), ("failed", "fetch", "skipped", None),
            f"a ref that is not there ({ref[:5]}): failed", job)
    job = run({"git": URL + "nothing.git"})
    is_((job.status, job.result["cause"]["stage"]), ("failed", "fetch"), "a repository that is not there", job)
    job = run({"git": "https://nowhere.example/a.git"})
    is_((job.status, job.result["cause"]["stage"]), ("failed", "fetch"), "a host that is not there", job)
    job = jobs.run(job_of({"git": URL + "a.git"}), net=net)
    ok(job.status == "failed" and b"certificate" in job.err, "without its certificates nothing comes", job)
    before = len(served.web.hits())
    job = run({"git": URL + "away/a.git"})
    is_((job.status, {hit[1] for hit in served.web.hits()[before:]}), ("failed", {"git.example"}), "a redirect to another host leads nowhere", job)
    job = run({"git": URL + "a.git", "allow": ["elsewhere.example:443"]})
    is_(job.status, "failed", "rules of the document stand instead of the one for the host", job)

    # ---- nothing of the caller's ----
    MINE = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "url.https://elsewhere.example/.insteadOf", "GIT_CONFIG_VALUE_0": URL, "GIT_SSL_CAINFO": served.ca}
    before = len(served.web.hits())
    on_host(net, "git", "ls-remote", URL + "a.git", env=MINE)
    is_({hit[1] for hit in served.web.hits()[before:]}, {"elsewhere.example"}, "the control: the caller's configuration sends git elsewhere")
    before = len(served.web.hits())
    job = jobs.run(job_of({"git": URL + "a.git", "ca": served.ca}), net=net, env=MINE)
    is_((job.status, {hit[1] for hit in served.web.hits()[before:]}), ("succeeded", {"git.example"}), "a job's fetch has none of it", job)

    # ---- submodules ----
    sub = served.repository("sub", {"s": b"sub\n"})
    for name, url in (("same", URL + "sub.git"), ("other", "https://elsewhere.example/sub.git")):
        work = served.work(name)
        with open(os.path.join(work, ".gitmodules"), "w", encoding="ascii") as file:
            file.write(f'[submodule "sub"]\n\tpath = sub\n\turl = {url}\n')
        git("update-index", "--add", "--cacheinfo", f"160000,{sub},sub", cwd=work)
        git("add", ".gitmodules", cwd=work)
        git("commit", "-q", "-m", name, cwd=work)
        served.serve(name)
    job = run({"git": URL + "same.git"})
    is_((job.status, job.out.split(b"\n")[:3], b"./sub/" in job.out), ("succeeded", [b".", b"./.gitmodules", b"./sub"], False), "a submodule stays empty", job)
    job = run({"git": URL + "same.git", "submodules": True})
    ok(job.status == "succeeded" and b"./sub/s\n" in job.out and b".git/" not in job.out and b"sub\n" in job.out, "asked for, that of the declared host comes", job)
    job = run({"git": URL + "other.git", "submodules": True})
    is_((job.status, job.result["cause"]["stage"]), ("failed", "fetch"), "that of another host does not", job)
    ok([row for row in job.stage("fetch")["result"]["egress"] if row["name"] == "elsewhere.example" and row["verdict"] == "denied"], "and is listed as denied", job)

    # ---- caps ----
    served.repository("large", {"zeros": bytes(6 << 20), **{f"many/{n}": b"" for n in range(50)}})
    for what, cap in (("bytes", {"max-bytes": "5M"}), ("entries", {"max-files": 40})):
        job = run({"git": URL + "large.git", **cap})
        is_((job.status, job.result["cause"]["stage"], job.result["source"]["digest"]), ("failed", "fetch", None), f"more {what} than may be: failed", job)
        ok({"bytes": "larger than its max", "entries": "more entries than its files"}[what] in job.message, "it says so", job)
    job = run({"git": URL + "large.git", "limits": {"egress": {"bytes": "2K"}}})
    is_((job.status, job.stage("fetch")["result"]["status"]), ("failed", "egress-limit"), "limits of the fetch are the document's", job)

    # ---- archives ----
    def archive(name, content):
        to = io.BytesIO()
        with tarfile.open(fileobj=to, mode="w:gz") as tar:
            info = tarfile.TarInfo("top/f")
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
        with open(os.path.join(served.files, name), "wb") as file:
            file.write(to.getvalue())
        return "sha256:" + hashlib.sha256(to.getvalue()).hexdigest()
    digest = archive("a.tar.gz", b"packed\n")
    job = run({"archive": URL + "files/a.tar.gz", "digest": digest})
    is_((job.status, job.out), ("succeeded", b".\n./top\n./top/f\npacked\n"), "an archive with its digest", job)
    is_((job.result["source"]["archive_digest"], job.result["source"]["trust"]), (digest, "declared"), "which is in the result", job)
    job = run({"archive": URL + "files/a.tar.gz", "digest": "sha256:" + "0" * 64})
    is_((job.status, job.result["cause"]["stage"], job.stages("unpack"), job.result["source"]["trust"]), ("failed", "fetch", [], None), "with another it is not unpacked, nor trusted", job)
    job = run({"archive": URL + "files/a.tar.gz"})
    is_((job.status, job.result["source"]["trust"]), ("succeeded", "first-use"), "without a digest the first one is recorded", job)
    job = run({"archive": URL + "files/a.tar.gz"})
    is_((job.status, job.result["source"]["trust"]), ("succeeded", "recorded"), "and held to", job)
    is_(open(os.path.join(jobs.path, "jobs/archives"), encoding="ascii").read(), f"{digest} {URL}files/a.tar.gz\n", "in one line of a file")
    other = archive("a.tar.gz", b"changed\n")
    job = run({"archive": URL + "files/a.tar.gz"})
    ok(job.status == "failed" and digest in job.message and not job.stages("unpack") and job.result["source"]["trust"] is None, "one that changed is refused, with both", job)
    job = run({"archive": URL + "files/a.tar.gz", "digest": other})
    is_(job.status, "succeeded", "unless its new digest is declared", job)
    with open(os.path.join(served.files, "bomb.tar.gz"), "wb") as file:
        import gzip
        file.write(gzip.compress(bytes(1 << 20)))
    job = run({"archive": URL + "files/none.tar.gz"})
    is_((job.status, job.result["cause"]["stage"]), ("failed", "fetch"), "one that is not there", job)
    archive("large.tar.gz", os.urandom(3 << 20))
    job = run({"archive": URL + "files/large.tar.gz", "max-bytes": "1M"})
    is_((job.status, job.result["cause"]["stage"]), ("failed", "fetch"), "one that is too large", job)
    archive("bomb.tar.gz", bytes(40 << 20))
    job = run({"archive": URL + "files/bomb.tar.gz", "max-bytes": "4M"})
    is_((job.status, job.result["cause"]["stage"], job.result["source"]["digest"]), ("failed", "unpack", None), "one that unpacks to too much", job)
    if shutil.which("unzip"):
        with zipfile.ZipFile(os.path.join(served.files, "a.zip"), "w") as packed:
            packed.writestr("z/f", "zipped\n")
        job = run({"archive": URL + "files/a.zip"})
        is_((job.status, job.out), ("succeeded", b".\n./z\n./z/f\nzipped\n"), "a zip", job)
    job = run({"archive": URL + "away/x.tar.gz"})
    is_((job.status, job.result["cause"]["stage"]), ("failed", "fetch"), "a redirect to another host", job)

    # ---- a folder ----
    folder = tmpdir()
    with open(os.path.join(folder, "f"), "wb") as file:
        file.write(b"here\n")
    os.symlink("/etc/passwd", os.path.join(folder, "out"))
    job = run({"folder": folder})
    is_((job.status, job.out), ("succeeded", b".\n./f\nhere\n"), "a folder; a link that leads out of it does not come along", job)
    job = run({"folder": "/etc"})
    is_((job.status, job.result["cause"]["stage"]), ("failed", "fetch"), "what must not go in does not", job)
    is_(jobs.leavings(), [], "nothing is left")
done()
