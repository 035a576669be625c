"""A registry of the test's own, on loopback, which does what it is told to do wrong.

    server = Registry()
    server.image("x", "v1", [layer, ...])           # documents under their names
    server.faults["/v2/x/blobs/sha256:..."] = fault # fault(handler, n) -> True if it has answered; n from 0
    server.asked("/v2/x/blobs/...")                 # the headers of each request for it, in order
"""
import gzip
import hashlib
import http.server
import io
import json
import re
import socket
import ssl
import tarfile
import threading

__all__ = ["Registry", "Proxy", "digest", "layer", "media", "CONFIG", "MANIFEST", "INDEX", "GZIP", "FOREIGN"]

OCI = "application/vnd.oci.image."
CONFIG, MANIFEST, INDEX = OCI + "config.v1+json", OCI + "manifest.v1+json", OCI + "index.v1+json"
GZIP, FOREIGN = OCI + "layer.v1.tar+gzip", OCI + "layer.nondistributable.v1.tar+gzip"


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def media(kind, data, **more):
    """A descriptor."""
    return {"mediaType": kind, "digest": digest(data), "size": len(data), **more}


def layer(name, content):
    """(gzipped layer, digest of the tar in it) of one file."""
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return gzip.compress(tar.getvalue(), 1, mtime=0), digest(tar.getvalue())


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, status, headers=(), body=b"", length=None):
        """A whole answer; a length of its own is a lie, and ends the connection."""
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        if length is not None:
            self.close_connection = True
        self.end_headers()
        self.wfile.write(body)

    def until_close(self, status, headers, body):
        """An answer whose end is the end of the connection."""
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def from_range(self):
        found = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        return int(found[1]) if found else 0

    def serve(self, kind, data):
        """As a good registry does, ranges and all."""
        begin = self.from_range()
        headers = {"Content-Type": kind, "Docker-Content-Digest": digest(data)}
        if begin >= len(data) > 0:
            self.answer(416)
        elif begin:
            self.answer(206, {**headers, "Content-Range": f"bytes {begin}-{len(data) - 1}/{len(data)}"}, data[begin:])
        else:
            self.answer(200, headers, data)

    def do_GET(self):
        server = self.server
        path = self.path.split("?")[0]
        with server.lock:
            count = len(server.asked(path))
            server.log.append((self.path, dict(self.headers)))
            server.busy += 1
            server.busiest = max(server.busiest, server.busy)
        try:
            fault = server.faults.get(path) or (server.every if self.path.startswith("/v2/") else None)
            if fault and fault(self, count):
                return
            if path in server.documents:
                self.serve(*server.documents[path])
            else:
                self.answer(404, {"Content-Type": "application/json"}, b'{"errors":[{"code":"NAME_UNKNOWN"}]}')
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
            self.close_connection = True
        finally:
            with server.lock:
                server.busy -= 1


class Registry(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, certificate=None, host="127.0.0.1", port=0):
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, port), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            # the handshake in the connection's own thread
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.lock = threading.Lock()
        self.log, self.faults, self.documents = [], {}, {}
        self.every = None  # a fault for all that is asked for below /v2/
        self.busy = self.busiest = 0
        self.name = f"[{host}]:{self.server_address[1]}" if ":" in host else f"{host}:{self.server_address[1]}"
        self.url = f"{'https' if certificate else 'http'}://{self.name}"
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def handle_error(self, request, client_address):
        pass  # a client that goes away

    def asked(self, path):
        return [headers for asked, headers in self.log if asked.split("?")[0] == path]

    def put(self, path, kind, data):
        self.documents[path] = (kind, data)
        return path

    def blob(self, repository, data, kind="application/octet-stream"):
        return self.put(f"/v2/{repository}/blobs/{digest(data)}", kind, data)

    def manifest(self, repository, tag, document, kind=MANIFEST):
        """Bytes or a document, under its tag and its digest; returns the bytes."""
        data = document if isinstance(document, bytes) else json.dumps(document).encode()
        self.put(f"/v2/{repository}/manifests/{digest(data)}", kind, data)
        self.put(f"/v2/{repository}/manifests/{tag}", kind, data)
        return data

    def image(self, repository, tag, layers, kind=GZIP, architecture="amd64", **more):
        """An image of layers as layer() gives them; returns its manifest."""
        config = json.dumps({"os": "linux", "architecture": architecture, "config": {"Cmd": ["/x"]},
                             "rootfs": {"type": "layers", "diff_ids": [inner for _, inner in layers]}}).encode()
        self.blob(repository, config)
        for data, _ in layers:
            self.blob(repository, data)
        return self.manifest(repository, tag, {
            "schemaVersion": 2, "mediaType": MANIFEST, "config": media(CONFIG, config),
            "layers": [media(kind, data, **more) for data, _ in layers]})


class Proxy:
    """CONNECT and nothing else, to wherever it is told; what it was asked is in .log."""

    def __init__(self, target):
        self.target, self.log = target, []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.name = "127.0.0.1:%d" % self.socket.getsockname()[1]
        self.url = "http://" + self.name
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            client, _ = self.socket.accept()
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        request = b""
        while b"\r\n\r\n" not in request:
            more = client.recv(4096)
            if not more:
                return
            request += more
        self.log.append(request.decode())
        if not request.startswith(b"CONNECT "):
            client.close()
            return
        upstream = socket.create_connection(self.target)
        client.sendall(b"HTTP/1.1 200 connected\r\n\r\n")
        threading.Thread(target=self._copy, args=(client, upstream), daemon=True).start()
        self._copy(upstream, client)

    @staticmethod
    def _copy(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass
