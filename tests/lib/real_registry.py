"""A real registry: Debian's docker-registry on loopback, filled by skopeo."""
import atexit
import base64
import json
import os
import shutil
import socket
import subprocess
import time
import urllib.parse

from pf import skip_all, tmpdir

__all__ = ["HASH", "PASSWORD", "USER", "Real", "Tokens", "needed", "write"]

USER, PASSWORD = "tester", "correct horse"
# bcrypt, which is all that docker-registry reads; cost 5
HASH = "$2b$05$TiViC0p/GH2admPqw29LgOf6qlu8i2CNKajUYbcl.t8MBaNNggbMC"


def needed():
    """The whole test is skipped where there is no such registry."""
    for program in ("docker-registry", "skopeo"):
        if not shutil.which(program):
            skip_all(f"no {program} on this machine")


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else json.dumps(data).encode())


class Tokens:
    """A token server for it: JSON Web Tokens (RFC 7519), signed with RS256, for what is asked. What was asked is in .server.log."""

    def __init__(self, server):
        """server: a fake_registry.Registry, whose /token this is."""
        self.server, self.folder = server, tmpdir()
        self.key, self.certificate = (os.path.join(self.folder, name) for name in ("key.pem", "certificate.pem"))
        self._openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", self.key, "-out", self.certificate, "-days", "2",
                      "-subj", "/CN=token server")
        self.der = self._openssl("x509", "-in", self.certificate, "-outform", "der")
        server.faults["/token"] = self._answer

    def _openssl(self, *args, data=None):
        return subprocess.run(["openssl", *args], check=True, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout

    def auth(self):
        """The part of the registry's configuration."""
        return {"token": {"realm": f"{self.server.url}/token", "service": "the registry", "issuer": "the token server",
                          "rootcertbundle": self.certificate}}

    def _token(self, scope):
        kind, name, actions = scope.split(":")
        now = int(time.time())
        head = {"typ": "JWT", "alg": "RS256", "x5c": [base64.b64encode(self.der).decode()]}
        claims = {"iss": "the token server", "sub": USER, "aud": "the registry", "exp": now + 300, "nbf": now - 60, "iat": now, "jti": str(now),
                  "access": [{"type": kind, "name": name, "actions": actions.split(",")}]}
        words = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in (head, claims)]
        signature = self._openssl("dgst", "-sha256", "-sign", self.key, data=b".".join(words))
        return b".".join([*words, base64.urlsafe_b64encode(signature).rstrip(b"=")]).decode()

    def _answer(self, handler, count):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(handler.path).query)
        wanted = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        if handler.headers.get("Authorization") != wanted or query.get("service") != ["the registry"]:
            handler.answer(401)
        else:
            handler.answer(200, {"Content-Type": "application/json"}, json.dumps({"token": self._token(query["scope"][0])}).encode())
        return True


class Real:
    """docker-registry on a free port of loopback; ended by its pid."""

    def __init__(self, password=False, auth=None, data=None):
        """auth: the "auth" of its configuration; data: where another one keeps what it has."""
        self.folder = tmpdir()
        self.data = data or os.path.join(self.folder, "data")
        for _ in range(5):
            with socket.create_server(("127.0.0.1", 0)) as probe:
                self.name = "127.0.0.1:%d" % probe.getsockname()[1]
            if self._start(password, auth):
                return
        raise RuntimeError("docker-registry does not start")

    def _start(self, password, auth):
        path = os.path.join(self.folder, "config.yml")
        config = {"version": "0.1", "log": {"level": "error", "accesslog": {"disabled": True}},
                  "storage": {"filesystem": {"rootdirectory": self.data}}, "http": {"addr": self.name}}
        if password:
            write(os.path.join(self.folder, "htpasswd"), f"{USER}:{HASH}\n".encode())
            config["auth"] = {"htpasswd": {"realm": "test", "path": os.path.join(self.folder, "htpasswd")}}
        if auth:
            config["auth"] = auth
        write(path, config)
        with open(os.path.join(self.folder, "log"), "wb") as log:
            self.process = subprocess.Popen(["docker-registry", "serve", path], stdout=log, stderr=log, cwd=self.folder)
        atexit.register(self.end)
        _, port = self.name.split(":")
        for _ in range(1200):
            if self.process.poll() is not None:
                return False
            if self._listens(int(port)):
                return True
            time.sleep(0.05)
        return False

    def _listens(self, port):
        """It, and not whoever took the port meanwhile."""
        with open("/proc/net/tcp", encoding="ascii") as file:
            rows = [line.split() for line in file]
        sockets = {f"socket:[{row[9]}]" for row in rows if row[1].endswith(f":{port:04X}") and row[3] == "0A"}
        folder = f"/proc/{self.process.pid}/fd"
        try:
            return any(os.readlink(os.path.join(folder, name)) in sockets for name in os.listdir(folder))
        except OSError:  # it has ended, or the descriptor is closed by now
            return False

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()

    def fill(self, layout, tag, *options, to=None):
        subprocess.run(["skopeo", "--insecure-policy", "copy", "--quiet", "--dest-tls-verify=false", *options, f"oci:{layout}:{tag}",
                        f"docker://{self.name}/test/{to or tag}:v1"], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "TMPDIR": self.folder})
