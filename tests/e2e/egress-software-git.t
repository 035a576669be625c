#!/usr/bin/python3
"""git over HTTPS: clone, fetch and push with a host that is allowed, its submodule of another one, and none from a host that is not."""
import hashlib
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet
from pf import *
from egress_software import *
from git_server import GitServer, git
from software import tools

RULES = ["git.example:443", "*.mirror.example:443"]
ENV = ("--env", "GIT_SSL_CAINFO=/scratch/ca.pem", "--env", "GIT_TERMINAL_PROMPT=0")


def with_submodule(served, name, url, commit):
    """A repository whose submodule is that commit of url."""
    work = served.work(name)
    for file, content in {"file": name, ".gitmodules": f'[submodule "sub"]\n\tpath = sub\n\turl = {url}\n'}.items():
        with open(os.path.join(work, file), "w", encoding="ascii") as out:
            out.write(content)
    git("update-index", "--add", "--cacheinfo", f"160000,{commit},sub", cwd=work)
    git("add", "file", ".gitmodules", cwd=work)
    git("commit", "-q", "-m", name, cwd=work)
    return served.serve(name)


with Internet() as net:
    served = GitServer(net, {"git.example": "93.184.216.40", "evil.example": "93.184.216.40", "x.mirror.example": "93.184.216.41"})
    names, web = served.names, served.web
    LARGE = os.urandom(4 << 20)
    large = served.repository("large", {"file": LARGE})
    sub = served.repository("sub", {"file": b"sub"})
    git("config", "http.receivepack", "true", cwd=os.path.join(served.served, "sub.git"))
    with_submodule(served, "both", "https://x.mirror.example/sub.git", sub)
    stray = with_submodule(served, "stray", "https://evil.example/sub.git", sub)
    image = tools("git")
    _, out = on_host(net, "git", "ls-remote", "https://evil.example/stray.git", "main", env={"GIT_SSL_CAINFO": net.authority.ca})
    is_((out.split()[:1], "evil.example" in web.hosts()), ([stray], True), "the control: the host gets the repository from the other name too")
    names.clear()
    web.clear()

    run = inside(net, RULES, image, "git clone -q https://git.example/large.git && cd large && git rev-parse HEAD && sha256sum < file && git fsck 2>&1 | head -1", flags=ENV)
    is_(run.out.decode().split(), [large, hashlib.sha256(LARGE).hexdigest(), "-"], "git clone: the commit and its four megabytes are whole", run)
    within(sum(row["received_bytes"] for row in rows(run, name="git.example", verdict="allowed")), len(LARGE), len(LARGE) * 2, "and counted")
    run = inside(net, RULES, image, "git clone -q --recurse-submodules https://git.example/both.git && cat both/file both/sub/file", flags=ENV)
    is_((run.code, run.out), (0, b"bothsub"), "a submodule comes from a second host that is allowed", run)
    run = inside(net, RULES, image, "git clone -q --depth 1 https://git.example/sub.git && cd sub && git config user.name A && git config user.email a@git.example && head -c 3000000 /dev/urandom > more && git add more && "
                 "git commit -q -m more && git push -q origin HEAD:refs/heads/more && git fetch -q && git rev-parse HEAD", flags=ENV)
    is_(run.out.decode().strip(), git("rev-parse", "more", cwd=os.path.join(served.served, "sub.git")), "git push: three megabytes in a body by chunks arrive", run)

    run = inside(net, RULES, image, "git clone -q https://git.example/stray.git; git clone -q https://evil.example/sub.git || echo no; cd stray && git submodule -q update --init || echo none; cat file",
                 flags=ENV)
    is_(run.out.split(), [b"no", b"none", b"stray"], "a clone, and a submodule, of a host that no rule names do not come", run)
    ok(rows(run, name="evil.example", transport="dns", verdict="denied"), "it is listed", run)
    run = inside(net, RULES, image, "git ls-remote http://git.example/sub.git || echo http; git ls-remote git://git.example/sub.git || echo git; git ls-remote ssh://git.example/sub.git || echo ssh", flags=ENV)
    is_(run.out.split(), [b"http", b"git", b"ssh"], "nor does anything by another port", run)
    is_((names.asked(), web.hosts()), ({"git.example", "x.mirror.example"},) * 2, "the name server was asked, and a server spoken to, for the allowed names alone")
done()
