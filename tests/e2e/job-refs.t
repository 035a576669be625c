#!/usr/bin/python3
"""Whatever names a commit of a git repository fetches that commit: branches however they are called, tags of both kinds, other refs, a commit's own id, a repository with SHA-256. What only looks like a ref is none."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet
from git_server import WHOSE, GitServer, git
from jobs import Jobs, stage
from pf import *
from software import tools

image_ = tools("git")

with Internet() as net:
    served = GitServer(net, {"git.example": "93.184.216.40"})
    jobs = Jobs()
    work, bare = os.path.join(served.folder, "work-a"), os.path.join(served.served, "a.git")
    commits = [served.repository("a", {"f": f"{n}\n".encode()}) for n in range(4)]

    def document(ref, name="a"):
        return {"image": image_, "source": {"git": f"https://git.example/{name}.git", "ca": served.ca, **({"ref": ref} if ref else {})}, "analyse": "none",
                "stages": [stage("show", "cat", "/run/input/source/f", inputs={"read-only": ["@source"]})]}

    def fetch(ref, name="a"):
        return jobs.run(document(ref, name), net=net)

    def comes(ref, commit, content, what, name="a"):
        job = fetch(ref, name)
        is_((job.status, job.result["source"]["commit"], job.out), ("succeeded", commit, content), what, job)

    # ---- branches ----
    ODD = ["feature/#1", "it's", "a;b", "$(id)", "a&b|c", "`id`", "größe", "日本", "100%", "a@b", 'say"', "v1.lock.x", "HEAD2", "deep/er/than/that", "-", "tag"]
    for number, name in enumerate(ODD):
        git("update-ref", "refs/heads/" + name, commits[number % 3], cwd=bare)
        ref = name if not name.startswith("-") else "refs/heads/" + name
        comes(ref, commits[number % 3], f"{number % 3}\n".encode(), f"a branch {name}")
    comes("refs/heads/main", commits[3], b"3\n", "a branch by its whole name")

    # ---- tags ----
    git("tag", "light", commits[0], cwd=bare)
    git("tag", "-a", "-m", "x", "heavy", commits[1], cwd=bare)
    git("tag", "-a", "-m", "x", "tagged", "heavy", cwd=bare)
    for name, number in (("light", 0), ("heavy", 1), ("tagged", 1)):
        for ref in (name, "refs/tags/" + name):
            comes(ref, commits[number], f"{number}\n".encode(), f"a tag {ref}: the commit, not the tag")
    git("update-ref", "refs/heads/both", commits[2], cwd=bare)
    git("tag", "both", commits[1], cwd=bare)
    comes("refs/heads/both", commits[2], b"2\n", "a branch that is called as a tag is")
    comes("refs/tags/both", commits[1], b"1\n", "and the tag")

    # ---- other refs, and commits ----
    git("update-ref", "refs/pull/7/head", commits[1], cwd=bare)
    comes("refs/pull/7/head", commits[1], b"1\n", "a ref that is neither")
    comes("HEAD", commits[3], b"3\n", "HEAD")
    comes(None, commits[3], b"3\n", "and nothing at all, which is that")
    comes(commits[1], commits[1], b"1\n", "a commit by its id, though no branch ends there")
    comes(commits[2].upper(), commits[2], b"2\n", "in capitals, too")
    git("update-ref", "refs/heads/" + commits[0], commits[3], cwd=bare)
    comes(commits[0], commits[0], b"0\n", "a branch that is called as a commit is does not stand for it")
    job = fetch(commits[0][:10])
    is_((job.status, job.result["cause"]["stage"], job.result["source"]["commit"]), ("failed", "fetch", None), "a part of an id is none", job)
    blob = git("hash-object", "-w", "--stdin", cwd=bare, feed=b"no commit\n")
    git("tag", "blob", blob, cwd=bare)
    for ref, what in (("blob", "a tag of a file"), (blob, "the id of a file")):
        job = fetch(ref)
        is_((job.status, job.result["cause"]["stage"], job.result["source"]["commit"]), ("failed", "fetch", None), f"{what} is none", job)

    # ---- a repository whose objects are named by SHA-256 ----
    work = os.path.join(served.folder, "work-wide")
    git("init", "-q", "-b", "main", "--object-format=sha256", work)
    wide = served.repository("wide", {"f": b"wide\n"})
    is_(len(wide), 64, "the control: an id of 64 digits")
    comes(None, wide, b"wide\n", "a repository with SHA-256: its head", "wide")
    comes(wide, wide, b"wide\n", "and a commit by its id", "wide")
    job = fetch("none", "wide")
    ok(job.status == "failed" and b"none" in job.err and b"mismatched" not in job.err, "what is not there is told as elsewhere", job)

    # ---- what is no ref: refused before anything runs ----
    before = len(served.web.hits())
    for ref in ("--upload-pack=x", "-", "--", "+main", "main:other", "^main", "main^", "main~1", "a b", "refs/heads/*", "?", "[a]", "a\\b", "a\nb", "a\tb", "", "x" * 256, ":/fix"):
        job = jobs.run(document("x") | {"source": {"git": "https://git.example/a.git", "ca": served.ca, "ref": ref}}, net=net)
        is_((job.code, job.status, job.result["stages"]), (125, "refused", []), f"{ref[:12]!r} is no ref: refused", job)
    is_(len(served.web.hits()), before, "and nobody was asked")
    marker = os.path.join(tmpdir(mode=0o777), "ran")
    subprocess.run(["git", "fetch", f"--upload-pack=touch {marker};git-upload-pack", bare], cwd=served.work("control"), env=WHOSE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    ok(os.path.exists(marker), "the control: git runs what such an option says")
    is_(jobs.leavings(), [], "nothing is left")
done()
