#!/usr/bin/python3
"""A registry's name is looked up in hosts and by DNS, and its certificate held against what this host trusts, as ever, though the client that
does it has no file of the host: names of /etc/hosts, DNS over UDP and TCP, certificates in one file and in a folder."""
import os
import socketserver
import subprocess
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

if os.geteuid() == 0 and "PINFOLD_TEST_PRIVATE" not in os.environ:
    os.environ["PINFOLD_TEST_PRIVATE"] = "1"
    os.execvp("unshare", ["unshare", "--mount", "--net", "--propagation", "private", sys.executable, *sys.argv])

from registry import *
from authority import *
from pf import *
from fake_registry import *

TRUST = "/etc/ssl/certs"
if os.geteuid() != 0:
    skip_all("needs root for a network and an /etc of its own")
if not os.path.isdir(TRUST) or not os.path.exists("/etc/nsswitch.conf"):
    skip_all("no Debian's /etc/ssl/certs and /etc/nsswitch.conf")
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def put(path, text):
    """In the place of the host's file, where there is one, for this test alone."""
    file = os.path.join(tmpdir(), "x")
    with open(file, "w", encoding="utf-8") as to:
        to.write(text)
    os.chmod(file, 0o644)
    subprocess.run(["mount", "--bind", file, path], check=True)


# ---- DNS: RFC 1035, just as much of it ----

asked, truncate = [], threading.Event()


def answer(query, tcp):
    """A (127.0.0.1) for dns.test; over UDP, if the test wants it, but the flag that says "ask by TCP"."""
    end = query.index(b"\0", 12) + 5
    name, kind = query[12:end - 4], query[end - 3]
    asked.append((name, kind, "tcp" if tcp else "udp"))
    if name != b"\3dns\4test\0":
        return query[:2] + b"\x81\x83" + query[4:6] + bytes(6) + query[12:end]  # no such name
    if truncate.is_set() and not tcp:
        return query[:2] + b"\x83\x80" + query[4:6] + bytes(6) + query[12:end]
    count = kind == 1
    return (query[:2] + b"\x81\x80" + query[4:6] + bytes([0, count]) + bytes(4) + query[12:end]
            + (b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\x7f\0\0\1" if count else b""))


class Udp(socketserver.BaseRequestHandler):
    def handle(self):
        data, sock = self.request
        sock.sendto(answer(data, False), self.client_address)


class Tcp(socketserver.StreamRequestHandler):
    def handle(self):
        while size := self.rfile.read(2):
            reply = answer(self.rfile.read(int.from_bytes(size, "big")), True)
            self.wfile.write(len(reply).to_bytes(2, "big") + reply)


for kind, handler in ((socketserver.ThreadingUDPServer, Udp), (socketserver.ThreadingTCPServer, Tcp)):
    kind.daemon_threads = True
    threading.Thread(target=kind(("127.0.0.1", 53), handler).serve_forever, daemon=True).start()

put("/etc/hosts", "127.0.0.1 localhost hosts.test\n")
put("/etc/resolv.conf", "nameserver 127.0.0.1\noptions timeout:5 attempts:2\n")
put("/etc/nsswitch.conf", "hosts: nothing_of_that_name files dns\n")
authority = Authority()
server = Registry(certificate=authority.certificate("all", "IP:127.0.0.1,DNS:hosts.test,DNS:dns.test"))
server.image("x", "v1", (BIG,))


def pull(name, *options, **more):
    return Pulled(None, f"{name}:{server.server_address[1]}/x:v1", "insecure=0", *options, **more)


CA = f"ca={authority.file}"
got = pull("hosts.test", CA)
ok(got.whole(), "a name of /etc/hosts", got)
is_(asked, [], "is not asked for elsewhere")
got = pull("dns.test", CA)
ok(got.whole(), "a name of DNS", got)
ok(asked and {how for _, _, how in asked} == {"udp"}, "is asked for by UDP", asked)
truncate.set()
got = pull("dns.test", CA)
ok(got.whole() and "tcp" in {how for _, _, how in asked}, "an answer that is too long for that: by TCP", got)
got = pull("none.test", CA)
like(got.err, "(?i)resolve host", "a name that is not there")
is_(got.retries(), [], "is not asked for again and again")

# ---- trust ----
like(pull("hosts.test").err, "certificate", "an authority that this host does not know")
subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=0755", "x", TRUST], check=True)
like(pull("hosts.test").err, "(?i)certificate|SSL", "a host that trusts nobody")
bundle, link = os.path.join(TRUST, "ca-certificates.crt"), os.path.join(TRUST, authority.hash() + ".0")
with open(authority.file, encoding="utf-8") as file:
    text = file.read()


def trust(path):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o644)


trust(bundle)
ok(pull("hosts.test").whole(), "one that is in this host's file")
os.unlink(bundle)
ok(not pull("hosts.test").ok, "and no more")
trust(os.path.join(TRUST, "ours.pem"))
os.symlink("ours.pem", link)
ok(pull("hosts.test").whole(), "one that is in this host's folder")
other = Authority()
like(pull("hosts.test", f"ca={other.file}").err, "certificate", "but not where the caller names another file")
run = pull("hosts.test", "ca=/nowhere/ca.pem")
like(run.err, "/nowhere/ca.pem: No such file", "a file that is not there is said to be missing")
done()
