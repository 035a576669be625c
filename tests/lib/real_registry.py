"""A real registry: Debian's docker-registry on loopback, filled by skopeo."""
import atexit
import json
import os
import shutil
import socket
import subprocess
import time

from pf import skip_all, tmpdir

__all__ = ["HASH", "PASSWORD", "USER", "Real", "needed", "write"]

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


class Real:
    """docker-registry on a free port of loopback; ended by its pid."""

    def __init__(self, password=False):
        self.folder = tmpdir()
        for _ in range(5):
            with socket.create_server(("127.0.0.1", 0)) as probe:
                self.name = "127.0.0.1:%d" % probe.getsockname()[1]
            if self._start(password):
                return
        raise RuntimeError("docker-registry does not start")

    def _start(self, password):
        path = os.path.join(self.folder, "config.yml")
        config = {"version": "0.1", "log": {"level": "error", "accesslog": {"disabled": True}},
                  "storage": {"filesystem": {"rootdirectory": os.path.join(self.folder, "data")}}, "http": {"addr": self.name}}
        if password:
            write(os.path.join(self.folder, "htpasswd"), f"{USER}:{HASH}\n".encode())
            config["auth"] = {"htpasswd": {"realm": "test", "path": os.path.join(self.folder, "htpasswd")}}
        write(path, config)
        with open(os.path.join(self.folder, "log"), "wb") as log:
            self.process = subprocess.Popen(["docker-registry", "serve", path], stdout=log, stderr=log, cwd=self.folder)
        atexit.register(self.end)
        host, port = self.name.split(":")
        for _ in range(300):
            if self.process.poll() is not None:
                return False
            try:
                socket.create_connection((host, int(port))).close()
                return True
            except OSError:
                time.sleep(0.05)
        return False

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()

    def fill(self, layout, tag, *options, to=None):
        subprocess.run(["skopeo", "--insecure-policy", "copy", "--quiet", "--dest-tls-verify=false", *options, f"oci:{layout}:{tag}",
                        f"docker://{self.name}/test/{to or tag}:v1"], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "TMPDIR": self.folder})
