"""A git server over HTTPS in a test's world: real git behind a real web server.

    with Internet() as net:
        server = GitServer(net, "git.example", "93.184.216.40")
        commit = server.publish("paper", {"main.py": b"..."})
        ... https://git.example/paper.git, trusted by server.ca
"""
import http.server
import os
import subprocess

import egress_software
import pf

__all__ = ["GitServer"]

WHOSE = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@git.example", "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@git.example",
         "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "PATH": os.environ["PATH"], "HOME": "/nonexistent"}


def git(*args, cwd=None):
    done = subprocess.run(["git", *args], cwd=cwd, env=WHOSE, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.stdout.decode().strip()


def _backend(folder):
    class Backend(http.server.BaseHTTPRequestHandler):
        """git http-backend, by CGI (RFC 3875)."""

        def answer(self):
            path, _, query = self.path.partition("?")
            length = self.headers.get("Content-Length", "")
            env = {**WHOSE, "GIT_PROJECT_ROOT": folder, "GIT_HTTP_EXPORT_ALL": "1", "REQUEST_METHOD": self.command, "PATH_INFO": path,
                   "QUERY_STRING": query, "CONTENT_TYPE": self.headers.get("Content-Type", ""), "CONTENT_LENGTH": length, "REMOTE_ADDR": "-",
                   "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""), "GIT_PROTOCOL": self.headers.get("Git-Protocol", "")}
            reply = subprocess.run(["git", "http-backend"], env=env, input=self.rfile.read(int(length or 0)), stdout=subprocess.PIPE, check=False).stdout
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
    return Backend


class GitServer:
    """See above. names and web tell who was asked for what."""

    def __init__(self, net, host, address, port=8080):
        self.folder = pf.tmpdir("root")
        self.served = os.path.join(self.folder, "served")
        os.mkdir(self.served)
        backend = _backend(self.served)
        net.listen("127.0.0.1", port, lambda connection, peer: backend(connection, peer, None))
        self.names = egress_software.dnsmasq(net, {host: [address]})
        self.web = egress_software.nginx(net, [egress_software.vhost(net, address, [host], None, plain=False,
                                                                     more=f"location / {{ proxy_pass http://127.0.0.1:{port}; }}")])
        self.ca = net.authority.ca
        os.chmod(self.ca, 0o644)

    def publish(self, name, files):
        """A repository with one commit on main, whose id is returned."""
        work = os.path.join(self.folder, "work-" + name)
        git("init", "-q", "-b", "main", work)
        for path, content in files.items():
            target = os.path.join(work, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as file:
                file.write(content)
        git("add", "-A", cwd=work)
        git("commit", "-q", "-m", name, cwd=work)
        git("clone", "-q", "--bare", work, os.path.join(self.served, name + ".git"))
        return git("rev-parse", "HEAD", cwd=work)

    def publish_folder(self, name, folder):
        """The files of a folder."""
        files = {}
        for top, _, found in os.walk(folder):
            for one in found:
                with open(os.path.join(top, one), "rb") as file:
                    files[os.path.relpath(os.path.join(top, one), folder)] = file.read()
        return self.publish(name, files)
