#!/usr/bin/python3
"""A hostile repository cannot run anything by being fetched, cannot read or write the host, cannot exhaust it. Each attempt has a control that succeeds where nothing confines it."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../e2e"))
from egress_net import Internet
from git_server import WHOSE, GitServer, git
from jobs import Jobs, stage
from pf import *
from software import tools

image_ = tools("git")
MARKS = tmpdir(mode=0o777)
os.chmod(MARKS, 0o777)
SECRET = os.path.join(tmpdir(), "secret")
with open(SECRET, "w", encoding="ascii") as file:
    file.write("the host's secret\n")


def mark(name):
    return os.path.join(MARKS, name)


def made(name):
    """Whether it was, and not any more."""
    path = mark(name)
    there = os.path.exists(path)
    if there:
        os.unlink(path)
    return there


def unconfined(*args, cwd=None):
    """git as anybody has it, in a folder of the test's own: the control."""
    subprocess.run(["git", *args], cwd=cwd, env={**WHOSE, "HOME": tmpdir("root"), "GIT_TERMINAL_PROMPT": "0"}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=60, check=False)


with Internet() as net:
    served = GitServer(net, {"git.example": "93.184.216.40"})
    jobs = Jobs()

    def fetch(name, show="true", **source):
        return jobs.run({"image": image_, "source": {"git": f"https://git.example/{name}.git", "ca": served.ca, **source}, "analyse": "none",
                         "stages": [stage("show", "sh", "-c", show, inputs={"read-only": ["@source"]})]}, net=net)

    def clone(name, *flags):
        to = os.path.join(tmpdir("root"), name)
        unconfined(*flags, "clone", "-q", os.path.join(served.served, name + ".git"), to)
        return to

    # ---- hooks ----
    script = f"#!/bin/sh\n: > {mark('hook')}\n".encode()
    served.repository("hooks", {f"hooks/{hook}": ("run", script) for hook in ("post-checkout", "post-merge", "reference-transaction", "fsmonitor-watchman", "pre-auto-gc")})
    clone("hooks", "-c", "core.hooksPath=hooks")
    copy = clone("hooks")
    unconfined("-c", "core.hooksPath=hooks", "checkout", "-q", "--detach", "HEAD", cwd=copy)
    ok(made("hook"), "the control: with the folder for its hooks the repository's program runs")
    job = fetch("hooks")
    is_((job.status, made("hook")), ("succeeded", False), "fetched by a job it does not", job)

    # ---- filters and attributes ----
    served.repository("filter", {".gitattributes": b"* filter=evil diff=evil merge=evil\n", "x": b"x\n", "run": ("run", f"#!/bin/sh\n: > {mark('filter')}\ncat\n".encode())})
    copy = clone("filter")
    os.unlink(os.path.join(copy, "x"))
    unconfined("-c", "filter.evil.smudge=./run", "checkout", "-q", "--", "x", cwd=copy)
    ok(made("filter"), "the control: a filter that is configured runs")
    job = fetch("filter", "cat /run/input/source/x")
    is_((job.status, job.out, made("filter")), ("succeeded", b"x\n", False), "attributes alone run nothing", job)

    # ---- large files that are kept elsewhere ----
    POINTER = b"version https://lfs.example/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12\n"
    served.repository("large-files", {".gitattributes": b"*.bin filter=lfs diff=lfs merge=lfs -text\n", ".lfsconfig": b"[lfs]\n\turl = https://elsewhere.example/lfs\n", "a.bin": POINTER})
    copy = clone("large-files")
    os.unlink(os.path.join(copy, "a.bin"))
    unconfined("-c", f"filter.lfs.smudge=touch {mark('smudge')}; cat", "checkout", "-q", "--", "a.bin", cwd=copy)
    ok(made("smudge"), "the control: where Git LFS is set up, its filter runs")
    job = fetch("large-files", "cat /run/input/source/a.bin")
    is_((job.status, job.out, made("smudge")), ("succeeded", POINTER, False), "a job gets the pointer, and no filter runs", job)
    is_({row["name"] for row in job.stage("fetch")["result"]["egress"]}, {"git.example"}, "nor is anybody else asked", job)

    # ---- core.fsmonitor of a bare repository inside ----
    inner = {"bare/HEAD": b"ref: refs/heads/main\n", "bare/refs/heads/.keep": b"", "bare/objects/.keep": b"", "bare/run": ("run", f"#!/bin/sh\n: > {mark('fsmonitor')}\n".encode()),
             "bare/config": f"[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = {mark('run-it')}\n".encode()}
    with open(mark("run-it"), "w", encoding="ascii") as file:
        file.write(f"#!/bin/sh\n: > {mark('fsmonitor')}\n")
    os.chmod(mark("run-it"), 0o755)
    served.repository("fsmonitor", inner)
    copy = clone("fsmonitor")
    unconfined("status", cwd=os.path.join(copy, "bare"))
    ok(made("fsmonitor"), "the control: git in that folder runs what its configuration says")
    job = fetch("fsmonitor", "cd /run/input/source/bare && git status; true")
    is_((job.status, made("fsmonitor")), ("succeeded", False), "neither the fetch nor git in a later stage reaches the host", job)

    # ---- transports of submodules ----
    for name, url, flag in (("ext", f"ext::sh -c touch% {mark('ext')}", "protocol.ext.allow=always"), ("file", f"file://{os.path.join(served.served, 'hooks.git')}", "protocol.file.allow=always")):
        work = served.work("sub-" + name)
        with open(os.path.join(work, ".gitmodules"), "w", encoding="ascii") as file:
            file.write(f'[submodule "s"]\n\tpath = s\n\turl = {url}\n')
        git("update-index", "--add", "--cacheinfo", f"160000,{git('rev-parse', 'HEAD', cwd=os.path.join(served.served, 'hooks.git'))},s", cwd=work)
        git("add", ".gitmodules", cwd=work)
        git("commit", "-q", "-m", name, cwd=work)
        served.serve("sub-" + name)
        copy = clone("sub-" + name)
        unconfined("-c", flag, "submodule", "update", "--init", cwd=copy)
        ok(made("ext") if name == "ext" else os.path.exists(os.path.join(copy, "s/hooks")), f"the control: a submodule by {name} works where it is allowed")
        job = fetch("sub-" + name, "ls /run/input/source/s", submodules=True)
        is_((job.status, job.result["cause"]["stage"], made("ext")), ("failed", "fetch", False), f"a job takes none by {name}", job)
        job = fetch("sub-" + name, "ls /run/input/source/s")
        is_((job.status, job.out, made("ext")), ("succeeded", b"", False), "and without submodules it is not even tried", job)
    for name, text in (("plain", ""), ("update", "\tupdate = !touch " + mark("update") + "\n"), ("option", "\turl = --upload-pack=touch " + mark("update") + "\n")):
        work = served.work("modules-" + name)
        with open(os.path.join(work, ".gitmodules"), "w", encoding="ascii") as file:
            file.write('[submodule "s"]\n\tpath = s\n' + ("\turl = https://git.example/hooks.git\n" if name != "option" else "") + text)
        git("update-index", "--add", "--cacheinfo", f"160000,{git('rev-parse', 'HEAD', cwd=os.path.join(served.served, 'hooks.git'))},s", cwd=work)
        git("add", ".gitmodules", cwd=work)
        git("commit", "-q", "-m", name, cwd=work)
        served.serve("modules-" + name)
        if name == "plain":
            # The same words in .gitmodules alone are refused by git itself, too.
            copy = clone("modules-" + name)
            git("config", "submodule.s.update", "!touch " + mark("update") + " #", cwd=copy)
            unconfined("-c", "protocol.file.allow=always", "-c", f"url.{served.served}/.insteadOf=https://git.example/", "submodule", "update", "--init", cwd=copy)
            ok(made("update"), "the control: what updates a submodule runs where the configuration says so")
            continue
        job = fetch("modules-" + name, submodules=True)
        is_((job.status in ("failed", "succeeded"), made("update")), (True, False), f".gitmodules with {name} runs nothing", job)

    # ---- links, and names that lead out ----
    served.repository("links", {"secret": ("link", SECRET), "up": ("link", "../../../../../../" + SECRET), "etc": ("link", "/etc"), "here": b"here\n", "in": ("link", "here")})
    copy = clone("links")
    is_(open(os.path.join(copy, "secret"), encoding="ascii").read(), "the host's secret\n", "the control: a clone's link leads to the host's file")
    job = fetch("links", "cd /run/input/source && ls && cat in && cat secret up etc/hostname")
    is_((job.out, b"secret\n" in job.out.replace(b"in\n", b"")), (b"here\nin\nhere\n", False), "links that lead out are not part of what was fetched; others are", job)
    ok(any("3 entries are not part of the tree" in text for text in job.stage("fetch")["result"]["warnings"]), "which a warning tells", job)
    bare = os.path.join(served.served, "links.git")
    blob = git("hash-object", "-w", "--stdin", cwd=bare, feed=f"[core]\n\tfsmonitor = {mark('run-it')}\n".encode())
    for name, path in (("dotdot", "../escaped"), ("dotgit", ".git/config"), ("case", ".GIT/config"), ("slash", "a/b")):
        entry = b"100644 " + path.encode() + b"\0" + bytes.fromhex(blob)
        tree = git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", cwd=bare, feed=entry)
        commit = git("commit-tree", "-m", name, tree, cwd=bare)
        git("update-ref", f"refs/heads/{name}", commit, cwd=bare)
        is_(subprocess.run(["git", "cat-file", "-p", tree], cwd=bare, env=WHOSE, stdout=subprocess.PIPE, check=True).stdout.split(b"\t")[-1].strip().strip(b'"'), path.encode(),
            f"the control: a tree with the name {path} is served")
        job = fetch("links", "ls -a /run/input /run/input/source", ref=name)
        ok(b"escaped" not in job.out and not made("fsmonitor") and not os.path.exists(os.path.join(jobs.path, "jobs/escaped")), f"{path}: nothing comes to be outside of the tree", job)

    # ---- too much ----
    served.repository("huge", {"zeros": bytes(96 << 20)})
    ok(os.path.getsize(os.path.join(clone("huge"), "zeros")) == 96 << 20, "the control: a small pack becomes a large file")
    job = fetch("huge", **{"max-bytes": "16M"})
    is_((job.status, job.result["cause"]["stage"], job.result["source"]["digest"]), ("failed", "fetch", None), "more than may be: nothing of it is kept", job)
    served.repository("many", {f"{n // 100}/{n}": b"" for n in range(3000)})
    is_(len(os.listdir(os.path.join(clone("many"), "7"))), 100, "the control: many files")
    job = fetch("many", **{"max-files": 1000})
    is_((job.status, job.result["cause"]["stage"], job.result["source"]["digest"]), ("failed", "fetch", None), "more than may be", job)
    deep = "/".join(["d"] * 140) + "/f"
    served.repository("deep", {deep: b"x"})
    ok(os.path.exists(os.path.join(clone("deep"), deep)), "the control: a deep folder")
    job = fetch("deep")
    is_((job.status, job.result["cause"]["stage"]), ("failed", "fetch"), "deeper than may be", job)
    is_(sorted(os.listdir(MARKS)), ["run-it"], "nothing else came to be on the host")
    is_(jobs.leavings(), [], "and nothing is left")
done()
