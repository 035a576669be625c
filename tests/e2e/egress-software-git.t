#!/usr/bin/python3
"""git over HTTPS: clone, fetch and push with a host that is allowed, its submodule of another one, and none from a host that is not."""
import hashlib
import http.server
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet
from pf import *
from egress_software import *
from software import tools

BACKEND = "127.0.0.1", 8080  # the world's
RULES = ["git.example:443", "*.mirror.example:443"]
ENV = ("--env", "GIT_SSL_CAINFO=/scratch/ca.pem", "--env", "GIT_TERMINAL_PROMPT=0")
WHOSE = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@git.example", "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@git.example",
         "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "PATH": os.environ["PATH"], "HOME": "/dev/null"}


def git(*args, cwd=None):
    return subprocess.run(["git", *args], cwd=cwd, env=WHOSE, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout.decode().strip()


class Backend(http.server.BaseHTTPRequestHandler):
    """git http-backend, by CGI (RFC 3875)."""
    folder = None

    def answer(self):
        path, _, query = self.path.partition("?")
        length = self.headers.get("Content-Length", "")
        env = {**WHOSE, "GIT_PROJECT_ROOT": self.folder, "GIT_HTTP_EXPORT_ALL": "1", "REQUEST_METHOD": self.command, "PATH_INFO": path,
               "QUERY_STRING": query, "CONTENT_TYPE": self.headers.get("Content-Type", ""), "CONTENT_LENGTH": length, "REMOTE_ADDR": "-", "REMOTE_USER": "a",
               "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""), "GIT_PROTOCOL": self.headers.get("Git-Protocol", "")}
        body = self.rfile.read(int(length or 0))
        reply = subprocess.run(["git", "http-backend"], env=env, input=body, stdout=subprocess.PIPE, check=False).stdout
        head, _, rest = reply.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.send_response(int(fields.pop("Status", "200").split()[0]))
        for name, value in fields.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(rest)

    do_GET = do_POST = answer

    def log_message(self, *args):
        pass


def repository(folder, name, content, submodule=None):
    """A bare repository with one commit, whose id is returned."""
    work, bare = os.path.join(folder, "work-" + name), os.path.join(folder, "served", name + ".git")
    git("init", "-q", "-b", "main", work)
    with open(os.path.join(work, "file"), "wb") as file:
        file.write(content)
    if submodule:
        with open(os.path.join(work, ".gitmodules"), "w", encoding="ascii") as file:
            file.write(f'[submodule "sub"]\n\tpath = sub\n\turl = {submodule[0]}\n')
        git("update-index", "--add", "--cacheinfo", f"160000,{submodule[1]},sub", cwd=work)
    git("add", "-A", cwd=work) if not submodule else git("add", "file", ".gitmodules", cwd=work)
    git("commit", "-q", "-m", name, cwd=work)
    git("clone", "-q", "--bare", work, bare)
    git("config", "http.receivepack", "true", cwd=bare)
    return git("rev-parse", "HEAD", cwd=work)


with Internet() as net:
    folder = Backend.folder = tmpdir("root")
    Backend.folder = os.path.join(folder, "served")
    LARGE = os.urandom(4 << 20)
    large = repository(folder, "large", LARGE)
    sub = repository(folder, "sub", b"sub")
    both = repository(folder, "both", b"both", ("https://x.mirror.example/sub.git", sub))
    stray = repository(folder, "stray", b"stray", ("https://evil.example/sub.git", sub))
    net.listen(*BACKEND, lambda connection, peer: Backend(connection, peer, None))
    names = dnsmasq(net, {"git.example": ["93.184.216.40"], "x.mirror.example": ["93.184.216.41"], "evil.example": ["93.184.216.40"]})
    PROXY = f"client_max_body_size 64m; location / {{ proxy_pass http://{BACKEND[0]}:{BACKEND[1]}; }}"
    web = nginx(net, [vhost(net, "93.184.216.40", [name], None, plain=False, more=PROXY) for name in ("git.example", "evil.example")]
                + [vhost(net, "93.184.216.41", ["x.mirror.example"], None, plain=False, more=PROXY)])
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
    is_(run.out.decode().strip(), git("rev-parse", "more", cwd=os.path.join(folder, "served/sub.git")), "git push: three megabytes in a body by chunks arrive", run)

    run = inside(net, RULES, image, "git clone -q https://git.example/stray.git; git clone -q https://evil.example/sub.git || echo no; cd stray && git submodule -q update --init || echo none; cat file",
                 flags=ENV)
    is_(run.out.split(), [b"no", b"none", b"stray"], "a clone, and a submodule, of a host that no rule names do not come", run)
    ok(rows(run, name="evil.example", transport="dns", verdict="denied"), "it is listed", run)
    run = inside(net, RULES, image, "git ls-remote http://git.example/sub.git || echo http; git ls-remote git://git.example/sub.git || echo git; git ls-remote ssh://git.example/sub.git || echo ssh", flags=ENV)
    is_(run.out.split(), [b"http", b"git", b"ssh"], "nor does anything by another port", run)
    is_((names.asked(), web.hosts()), ({"git.example", "x.mirror.example"},) * 2, "the name server was asked, and a server spoken to, for the allowed names alone")
done()
