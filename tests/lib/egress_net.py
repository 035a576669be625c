"""A small internet for tests: two network namespaces and a veth pair between them.

    from egress_net import Internet
    with Internet() as net:
        net.dns.names["packages.example"] = ["93.184.216.10"]
        server = net.tls("93.184.216.10", 443, ["packages.example"], handler)
        run = net.pinfold("run", "--allow", "packages.example:443", "@host", "/usr/bin/curl", ...)

`home` is where pinfold runs: its resolv.conf names the DNS server of this file, its default route leads
to `world`, where the servers live. Addresses of 93.184.216.0/24 and 2606:2800:220:1::/64 are there, which
count as global; others are added with `address()`. Nothing of it touches the host's network. It takes
root to make; pinfold runs in it as whom PINFOLD_TEST_USER says.
"""
import contextlib
import ctypes
import os
import socket
import ssl
import struct
import subprocess
import threading

import pf

CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


def _setns(fd):
    if _libc.setns(fd, CLONE_NEWNET) < 0:
        raise OSError(ctypes.get_errno(), "setns")


class _Holder:
    """A process that keeps namespaces alive until it is closed."""

    def __init__(self, *flags):
        self.process = subprocess.Popen(["unshare", *flags, "sh", "-c", "echo; exec cat"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.process.stdout.readline()
        self.pid = self.process.pid
        self.net = os.open(f"/proc/{self.pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)

    def run(self, *argv):
        subprocess.run(["nsenter", "-t", str(self.pid), "-n", "-m", *argv], check=True)

    @contextlib.contextmanager
    def entered(self):
        """This thread makes its sockets there."""
        own = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        try:
            _setns(self.net)
            try:
                yield
            finally:
                _setns(own)
        finally:
            os.close(own)

    def close(self):
        os.close(self.net)
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Dns:
    """An authoritative server for `names`: {name: [address, ...]}; log has each (name, type) that was asked.
    A name with an empty list has no data, one that is missing does not exist; a callable is called for the list.
    Names in `truncated` are answered by TCP alone, those in `silent` (or name and type) not at all; `codes` has what
    is answered to a name and type instead."""

    TYPES = {1: socket.AF_INET, 28: socket.AF_INET6}

    def __init__(self, holder, address):
        self.names, self.aliases, self.truncated, self.silent, self.codes, self.log = {}, {}, set(), set(), {}, []
        self.ttl = 60
        with holder.entered():
            self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.tcp = socket.socket()
        self.udp.bind((address, 53))
        self.tcp.bind((address, 53))
        self.tcp.listen()
        for serve in (self._serve_udp, self._serve_tcp):
            threading.Thread(target=serve, daemon=True).start()

    @property
    def asked(self):
        """The names, without their types."""
        return {name for name, _ in self.log}

    def _addresses(self, name, kind):
        found = self.names.get(name)
        found = found() if callable(found) else found
        return [a for a in found if (":" in a) == (kind == 28)] if kind in self.TYPES else []

    def _answer(self, query, by_tcp):
        labels, at = [], 12
        while query[at]:
            labels.append(query[at + 1:at + 1 + query[at]])
            at += 1 + query[at]
        question = query[12:at + 5]
        kind = struct.unpack("!H", query[at + 1:at + 3])[0]
        name = b".".join(labels).decode("ascii", "backslashreplace").lower()
        self.log.append((name, kind))
        if name in self.silent or (name, kind) in self.silent:
            return None
        if (name, kind) in self.codes:
            return query[:2] + struct.pack("!HHHHH", 0x8180 | self.codes[name, kind], 1, 0, 0, 0) + question
        if name in self.truncated and not by_tcp:
            return query[:2] + struct.pack("!HHHHH", 0x8780, 1, 0, 0, 0) + question
        records, owner = [], name
        if name in self.aliases:
            target = b"".join(bytes([len(p)]) + p for p in self.aliases[name].encode().split(b".")) + b"\0"
            records.append(b"\xc0\x0c" + struct.pack("!HHIH", 5, 1, self.ttl, len(target)) + target)
            owner = self.aliases[name]
        if owner not in self.names:
            return query[:2] + struct.pack("!HHHHH", 0x8583, 1, len(records), 0, 0) + question + b"".join(records)
        where = b"\xc0\x0c" if owner == name else \
            b"".join(bytes([len(p)]) + p for p in owner.encode().split(b".")) + b"\0"
        for text in self._addresses(owner, kind):
            data = socket.inet_pton(self.TYPES[kind], text)
            records.append(where + struct.pack("!HHIH", kind, 1, self.ttl, len(data)) + data)
        return query[:2] + struct.pack("!HHHHH", 0x8580, 1, len(records), 0, 0) + question + b"".join(records)

    def _serve_udp(self):
        with contextlib.suppress(OSError):
            while True:
                query, peer = self.udp.recvfrom(4096)
                if not query:
                    return  # closed
                reply = self._answer(query, False)
                if reply:
                    self.udp.sendto(reply, peer)

    def _serve_tcp(self):
        with contextlib.suppress(OSError):
            while True:
                stream, _ = self.tcp.accept()
                with stream, stream.makefile("rb") as file:
                    while head := file.read(2):
                        reply = self._answer(file.read(struct.unpack("!H", head)[0]), True)
                        if reply:
                            stream.sendall(struct.pack("!H", len(reply)) + reply)

    def close(self):
        for sock in (self.udp, self.tcp):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()


class Server:
    """Threads that accept and call handler(connection, peer) for each; hits has the peers."""

    def __init__(self, listener, handler, wrap=None):
        self.listener, self.handler, self.wrap, self.hits = listener, handler, wrap, []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, peer = self.listener.accept()
                self.hits.append(peer[0])
                threading.Thread(target=self._serve, args=(connection, peer), daemon=True).start()

    def _serve(self, connection, peer):
        with contextlib.suppress(OSError), connection:
            if self.wrap:
                connection = self.wrap(connection)
            with connection:
                self.handler(connection, peer)

    def close(self):
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def page(text):
    """A handler that answers one HTTP request after the other with text, and closes when the client does."""
    def serve(connection, _):
        with connection.makefile("rb") as file:
            while (line := file.readline()) not in (b"", b"\r\n"):
                length = 0
                while line not in (b"\r\n", b""):
                    if line.lower().startswith(b"content-length:"):
                        length = int(line.split(b":")[1])
                    line = file.readline()
                file.read(length)
                body = text.encode()
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    return serve


def echo(connection, _):
    """Every byte comes back; the end too."""
    while data := connection.recv(65536):
        connection.sendall(data)
    connection.shutdown(socket.SHUT_WR)


class Authority:
    """A certificate authority of its own, made by openssl."""

    def __init__(self, folder):
        self.folder, self.count = folder, 0
        self.ca = os.path.join(folder, "ca.pem")
        self._openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                      "-subj", "/CN=Test CA", "-keyout", self._at("ca.key"), "-out", self.ca)

    def _at(self, name):
        return os.path.join(self.folder, name)

    @staticmethod
    def _openssl(*args):
        subprocess.run(["openssl", *args], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def issue(self, names):
        """(certificate, key) for the names."""
        self.count += 1
        key, request, cert = (self._at(f"{self.count}.{kind}") for kind in ("key", "csr", "pem"))
        san = ",".join(f"DNS:{name}" for name in names)
        self._openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={names[0]}",
                      "-addext", f"subjectAltName={san}", "-keyout", key, "-out", request)
        self._openssl("x509", "-req", "-in", request, "-CA", self.ca, "-CAkey", self._at("ca.key"), "-CAcreateserial",
                      "-days", "2", "-copy_extensions", "copy", "-out", cert)
        return cert, key


def own(name):
    """A mark for a run that no other test's has, be it the same test of somebody else."""
    return f"{name}-{os.getpid()}-"


def pss_kb(pids):
    """Their memory, what is shared by its share. Who cannot be read, as it has ended, is an error and not nothing."""
    total = 0
    for pid in pids:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            total += sum(int(line.split()[1]) for line in file if line.startswith(b"Pss:"))
    return total


class Internet:
    """See above."""

    HOME, GATEWAY = "93.184.216.2", "93.184.216.1"
    HOME6, GATEWAY6 = "2606:2800:220:1::2", "2606:2800:220:1::1"

    def __init__(self):
        if os.geteuid() != 0:
            pf.skip_all("needs root, to make network namespaces for the test's hosts")
        self.stack = contextlib.ExitStack()
        self.authority = None

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            self.home = _Holder("--net", "--mount", "--propagation", "private")
            stack.callback(self.home.close)
            self.world = _Holder("--net", "--mount", "--propagation", "private")
            stack.callback(self.world.close)
            self._connect()
            self.dns = Dns(self.world, self.GATEWAY)
            stack.callback(self.dns.close)
            self.name_servers(self.GATEWAY)
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *exc):
        self.stack.close()

    def _connect(self):
        self.home.run("ip", "link", "add", "up0", "type", "veth", "peer", "name", "down0", "netns", str(self.world.pid))
        for holder, link, v4, v6 in ((self.home, "up0", self.HOME, self.HOME6),
                                     (self.world, "down0", self.GATEWAY, self.GATEWAY6)):
            holder.run("ip", "link", "set", "lo", "up")
            holder.run("ip", "addr", "add", f"{v4}/24", "dev", link)
            holder.run("ip", "addr", "add", f"{v6}/64", "dev", link, "nodad")
            holder.run("ip", "link", "set", link, "up")
        self.home.run("ip", "route", "add", "default", "via", self.GATEWAY)
        self.home.run("ip", "-6", "route", "add", "default", "via", self.GATEWAY6)

    def name_servers(self, *addresses):
        """The host's name servers from now on."""
        self.resolv_conf("search home.example\n" + "".join(f"nameserver {a}\n" for a in addresses))

    def resolv_conf(self, text):
        """The host's /etc/resolv.conf from now on."""
        path = os.path.join(pf.tmpdir("root"), "resolv.conf")
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        os.chmod(path, 0o644)
        self.home.run("mount", "--bind", path, "/etc/resolv.conf")

    def address(self, text, holder=None):
        """One more address of the world's."""
        bits = "128" if ":" in text else "32"
        (holder or self.world).run("ip", "addr", "replace", f"{text}/{bits}", "dev", "down0" if not holder else "lo",
                                   *(["nodad"] if ":" in text else []))

    def listen(self, address, port, handler, wrap=None, holder=None):
        """A TCP server in the world."""
        if address not in (self.GATEWAY, self.GATEWAY6, "127.0.0.1", "::1"):
            self.address(address, holder)
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with (holder or self.world).entered():
            listener = socket.socket(family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(256)
        server = Server(listener, handler, wrap)
        self.stack.callback(server.close)
        return server

    def tls(self, address, port, names, handler):
        """The same with TLS, and a certificate for the names by self.authority."""
        if self.authority is None:
            self.authority = Authority(pf.tmpdir("root"))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.authority.issue(names))
        return self.listen(address, port, handler, lambda c: context.wrap_socket(c, server_side=True))

    def udp(self, address, port, answer):
        """A UDP server: answer(bytes) comes back; hits has what came."""
        self.address(address)
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with self.world.entered():
            sock = socket.socket(family, socket.SOCK_DGRAM)
        sock.bind((address, port))
        hits = []

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    data, peer = sock.recvfrom(65536)
                    hits.append(data)
                    sock.sendto(answer(data), peer)
        threading.Thread(target=serve, daemon=True).start()
        self.stack.callback(sock.close)
        return hits

    def start(self, *args, **options):
        """pf.start() in home."""
        return pf.start(*args, within=["nsenter", "-t", str(self.home.pid), "-n", "-m", "--wd=/"], **options)

    def pinfold(self, *args, stdin=None, timeout=60, **options):
        """pf.pinfold() in home."""
        feed = stdin if isinstance(stdin, bytes) else None
        with self.start(*args, stdin=subprocess.PIPE if feed is not None else subprocess.DEVNULL, **options) as running:
            return running.wait(timeout, feed)
