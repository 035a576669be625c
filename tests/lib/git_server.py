"""git over HTTPS in a test's world: repositories that a test makes, served by git's own http-backend behind nginx.

    with Internet() as net:
        served = GitServer(net, {"git.example": "93.184.216.40"})
        commit = served.repository("name", {"file": b"content"})
"""
import http.server
import os
import subprocess

import pf
from egress_software import dnsmasq, nginx, vhost

__all__ = ["GitServer", "git"]

BACKEND = "127.0.0.1", 8080  # the world's
WHOSE = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@git.example", "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@git.example",
         "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "PATH": os.environ["PATH"], "HOME": "/proc/none"}


def git(*args, cwd=None, feed=None, env=None):
    done = subprocess.run(["git", *args], cwd=cwd, env={**WHOSE, **(env or {})}, input=feed, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.stdout.decode("utf-8", "replace").strip()


class _Backend(http.server.BaseHTTPRequestHandler):
    """CGI (RFC 3875)."""
    folder = None

    def answer(self):
        path, _, query = self.path.partition("?")
        length = self.headers.get("Content-Length", "")
        env = {**WHOSE, "GIT_PROJECT_ROOT": self.folder, "GIT_HTTP_EXPORT_ALL": "1", "REQUEST_METHOD": self.command, "PATH_INFO": path,
               "QUERY_STRING": query, "CONTENT_TYPE": self.headers.get("Content-Type", ""), "CONTENT_LENGTH": length, "REMOTE_ADDR": "-", "REMOTE_USER": "a",
               "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""), "GIT_PROTOCOL": self.headers.get("Git-Protocol", "")}
        body = self.rfile.read(int(length or 0))
        reply = subprocess.run(["git", "http-backend"], env=env, input=body, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               check=False).stdout
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


class GitServer:
    """hosts: {name: address}; each serves all repositories, and files below /files/."""

    def __init__(self, net, hosts):
        self.net, self.folder = net, pf.tmpdir("root")
        self.served = os.path.join(self.folder, "served")
        self.files = os.path.join(self.folder, "files")
        for folder in (self.served, self.files):
            os.mkdir(folder)
        handler = type("Backend", (_Backend,), {"folder": self.served})
        net.listen(*BACKEND, lambda connection, peer: handler(connection, peer, None))
        self.names = dnsmasq(net, {name: [address] for name, address in hosts.items()})
        proxy = (f"client_max_body_size 64m; location /files/ {{ alias {self.files}/; }} location /away {{ return 302 https://elsewhere.example/a.git ; }} "
                 f"location / {{ proxy_pass http://{BACKEND[0]}:{BACKEND[1]}; }}")
        self.web = nginx(net, [vhost(net, address, [name], None, plain=False, more=proxy) for name, address in hosts.items()])
        self.ca = net.authority.ca
        os.chmod(self.ca, 0o644)

    def work(self, name):
        """An empty repository to be filled."""
        work = os.path.join(self.folder, "work-" + name)
        git("init", "-q", "-b", "main", work)
        return work

    def serve(self, name):
        """What the work folder's commits are, bare; the commit of HEAD."""
        work = os.path.join(self.folder, "work-" + name)
        bare = os.path.join(self.served, name + ".git")
        if os.path.isdir(bare):
            git("push", "-q", "--force", bare, "HEAD:main", cwd=work)
        else:
            git("clone", "-q", "--bare", work, bare)
        return git("rev-parse", "HEAD", cwd=work)

    def repository(self, name, files, message="one"):
        """{path: bytes | ("link", target) | ("run", bytes)}, as one more commit."""
        work = os.path.join(self.folder, "work-" + name)
        if not os.path.isdir(work):
            self.work(name)
        for path, content in files.items():
            target = os.path.join(work, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if isinstance(content, tuple) and content[0] == "link":
                os.symlink(content[1], target)
                continue
            with open(target, "wb") as file:
                file.write(content[1] if isinstance(content, tuple) else content)
            if isinstance(content, tuple):
                os.chmod(target, 0o755)
        git("add", "-A", "-f", cwd=work)
        git("commit", "-q", "-m", message, cwd=work)
        return self.serve(name)
