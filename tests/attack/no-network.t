#!/usr/bin/python3
"""Without a rule nothing is reached in any way, with one nothing but what it names: by no protocol, no address, no socket of the host, no
device. Each attempt is made on the host first, where it succeeds. Rows NE01, NE02, NE03, NE04, NE08, NE17, NE18, NE19."""
import os
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet, Server, echo
from pf import *

# Each attempt says "done", or the errno; the host's loopback and the abstract name are the host's own inside.
PROBE = r'''
import errno, os, socket, struct, sys
FILE = sys.argv[1]
def tcp(address, port=7000, protocol=0):
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM, protocol) as s:
        s.settimeout(30); s.connect((address, port)); s.sendall(b"hi"); return s.recv(2)
def udp(address, port):
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(30); s.sendto(b"hi", (address, port)); return s.recv(9)
def say(address, family=socket.AF_INET, scope=0):
    with socket.socket(family, socket.SOCK_DGRAM) as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        s.sendto(b"hi", (address, 7001) if family == socket.AF_INET else (address, 7001, 0, scope))
def fast_open(address):
    with socket.socket() as s: s.sendto(b"hi", socket.MSG_FASTOPEN, (address, 7000)); return s.recv(2)
def unix(name):
    with socket.socket(socket.AF_UNIX) as s: s.connect(name)
def listed():
    with open("/proc/net/unix") as file:
        if "egress-canary" not in file.read(): raise OSError(errno.ENOENT, "")
def make(*what): socket.socket(*what).close()
def link():
    if [i for i in socket.if_nameindex() if i[1] != "lo"] == []: raise OSError(errno.ENODEV, "")
def six():
    with open("/proc/net/if_inet6") as file:
        if {line.split()[5] for line in file} == {"lo"}: raise OSError(errno.ENODEV, "")
def default_route():
    with open("/proc/net/route") as file:
        if not [line for line in file.read().splitlines()[1:] if line.split()[1] == "00000000"]: raise OSError(errno.ENETUNREACH, "")
def scope(): return [i for i, n in socket.if_nameindex() if n != "lo"] or [1]
ATTEMPTS = {
    "tcp": lambda: tcp("93.184.216.66"), "tcp6": lambda: tcp("2606:2800:220:1::66"), "tcp-lan": lambda: tcp("10.1.2.3"),
    "tcp-metadata": lambda: tcp("169.254.169.254"), "tcp-host": lambda: tcp("93.184.216.2"), "tcp-host6": lambda: tcp("2606:2800:220:1::2"),
    "mptcp": lambda: tcp("93.184.216.66", protocol=262), "fast-open": lambda: fast_open("93.184.216.66"), "mapped": lambda: tcp("::ffff:93.184.216.66"),
    "udp": lambda: udp("93.184.216.66", 7001), "udp6": lambda: udp("2606:2800:220:1::66", 7001), "udp-dns": lambda: udp("93.184.216.66", 53), "udp-443": lambda: udp("93.184.216.66", 443),
    "broadcast": lambda: say("255.255.255.255"), "multicast": lambda: say("224.0.0.251"), "multicast6": lambda: say("ff02::1", socket.AF_INET6, scope()[0]),
    "link-local6": lambda: say("fe80::1", socket.AF_INET6, scope()[0]),
    "loopback": lambda: tcp("127.0.0.1"), "loopback6": lambda: tcp("::1"), "loopback-mapped": lambda: tcp("::ffff:127.0.0.1"), "any": lambda: tcp("0.0.0.0"), "any6": lambda: tcp("::"),
    "abstract": lambda: unix("\0egress-canary"), "pathname": lambda: unix(FILE), "listed": listed,
    "raw": lambda: make(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP), "raw6": lambda: make(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6),
    "raw-ip": lambda: make(socket.AF_INET, socket.SOCK_RAW, 255), "packet": lambda: make(socket.AF_PACKET, socket.SOCK_RAW, 0x300),
    "packet-datagram": lambda: make(socket.AF_PACKET, socket.SOCK_DGRAM, 0x300), "ping": lambda: make(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP),
    "tun": lambda: os.close(os.open("/dev/net/tun", os.O_RDWR)), "link": link, "addresses6": six, "default-route": default_route,
}
for name, attempt in ATTEMPTS.items():
    try: attempt(); print(name, "done")
    except OSError as e: print(name, errno.errorcode.get(e.errno, "silence" if isinstance(e, TimeoutError) else str(e)))
'''
FORBIDDEN = "EPERM|EACCES|EAFNOSUPPORT|EPROTONOSUPPORT|ESOCKTNOSUPPORT"
# What each says inside, a pattern.
NONE = {
    **dict.fromkeys(("tcp", "tcp6", "tcp-lan", "tcp-metadata", "tcp-host", "tcp-host6", "fast-open", "mapped", "udp", "udp6", "udp-dns", "udp-443", "broadcast", "multicast",
                     "default-route"), "ENETUNREACH"),
    # A datagram to all of the sandbox's own loopback is no way out; the other ends are checked below.
    "multicast6": "ENETUNREACH|EADDRNOTAVAIL|done", "link-local6": "ENETUNREACH|EADDRNOTAVAIL", "mptcp": "ENETUNREACH|" + FORBIDDEN,
    **dict.fromkeys(("loopback", "loopback6", "loopback-mapped", "any", "any6", "abstract"), "ECONNREFUSED"),
    "pathname": "ENOENT", "listed": "ENOENT", "tun": "ENOENT", "link": "ENODEV", "addresses6": "ENODEV",
    **dict.fromkeys(("raw", "raw6", "raw-ip", "packet", "packet-datagram", "ping"), FORBIDDEN),
}
# With a rule for the same port the broker is at the other end of the loopback.
RULE = {**NONE, **dict.fromkeys(("loopback", "loopback6", "loopback-mapped", "any", "any6"), "ECONNRESET")}
# What a machine may be without: not every kernel and container has them.
OPTIONAL = {"mptcp", "fast-open", "tun", "ping", "packet", "packet-datagram", "raw", "raw6", "raw-ip"}
LITERALS = ["93.184.216.66", "2130706433", "0x7f.1", "0177.1", "127.1", "0", "0.0.0.0", "::1", "::ffff:7f00:1", "::ffff:a9fe:a9fe", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "fe80::1%lo", "::",
            "198.18.0.1", "198.18.1.1"]

with Internet() as net:
    hits = []
    for address in ("93.184.216.66", "2606:2800:220:1::66", "10.1.2.3", "169.254.169.254"):
        hits.append(net.listen(address, 7000, echo).hits)
    for address in ("0.0.0.0", "::"):
        with net.home.entered():
            listener = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
        if ":" in address:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind((address, 7000))
        listener.listen()
        server = Server(listener, echo)
        net.stack.callback(server.close)
        hits.append(server.hits)
    datagrams = [net.udp(address, port, lambda data: data) for address, port in
                 (("93.184.216.66", 7001), ("2606:2800:220:1::66", 7001), ("93.184.216.66", 53), ("93.184.216.66", 443))]
    path = os.path.join(tmpdir(), "socket")
    with net.home.entered():
        canaries = [socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)]
    for canary, name in zip(canaries, ("\0egress-canary", path)):
        canary.bind(name)
        canary.listen(16)
    os.chmod(path, 0o777)
    net.dns.names["good.example"] = ["93.184.216.10"]
    good = net.listen("93.184.216.10", 7000, echo)

    control = dict(line.split() for line in subprocess.run(["nsenter", "-t", str(net.home.pid), "-n", "python3", "-c", PROBE, path], stdout=subprocess.PIPE,
                                                           check=True).stdout.decode().splitlines())
    for name in NONE:
        if name in OPTIONAL and control[name] != "done":
            diag(f"{name}: the host cannot either ({control[name]})")
        else:
            is_(control[name], "done", f"{name}: the control, on the host")
    reached = [len(h) for h in hits + datagrams]
    ok(all(reached), "each server was reached by the host", reached)
    for canary in canaries:
        canary.accept()[0].close()
        canary.setblocking(False)

    for what, rules, want in (("no rule", [], NONE), ("a rule", ["--allow", "good.example:7000"], RULE)):
        run = net.pinfold("run", *rules, "--env", "HTTPS_PROXY=93.184.216.66:7000", "@host", "/usr/bin/python3", "-c", PROBE, path)
        got = dict(line.split() for line in run.out.decode().splitlines())
        for name, pattern in want.items():
            like(got.get(name, ""), f"^({pattern})$", f"{what}: {name}")
        if not rules:
            is_(run.result["egress"], [], "no rule: nothing is listed")

    run = net.pinfold("run", "--allow", "good.example:7000", "@host", "/usr/bin/python3", "-c", r"""
import errno, socket, sys
for word in ["good.example", *sys.argv[1:]]:
    for kind, *_, address in socket.getaddrinfo(word, 7000, type=socket.SOCK_STREAM)[:1]:
        with socket.socket(kind) as s:
            try: s.settimeout(30); s.connect(address); s.sendall(b"hi"); print(word, s.recv(2) == b"hi" and "reached")
            except OSError as e: print(word, errno.errorcode.get(e.errno, "silence"))
""", *LITERALS)
    got = dict(line.rsplit(" ", 1) for line in run.out.decode().splitlines())
    is_(got.pop("good.example", None), "reached", "the rule's name is reached", run)
    is_((sorted(got), [word for word, what in got.items() if what not in ("ENETUNREACH", "ECONNRESET", "ECONNREFUSED", "EADDRNOTAVAIL", "EINVAL")]), (sorted(LITERALS), []),
        "addresses in all disguises are not", run)
    is_([len(h) for h in hits + datagrams], reached, "no server, and no listener of the host, was reached")
    for canary, name in zip(canaries, ("abstract socket", "socket in a folder")):
        try:
            canary.accept()
            ok(False, f"nor the host's {name}")
        except BlockingIOError:
            ok(True, f"nor the host's {name}")

    for what, rules in (("no rule", []), ("a rule", ["--allow", "good.example:7000"])):
        run = net.pinfold("run", *rules, "@host", "/bin/sh", "-c", "find / -xdev -type s; find /dev /run /tmp /scratch /proc/self/root/etc -type s; find /usr -xdev -type s; exit 0")
        is_((run.status, run.out), ("exited", b""), f"{what}: no socket in any folder", run)
    is_(subprocess.run(["find", os.path.dirname(path), "-type", "s"], stdout=subprocess.PIPE, check=True).stdout.decode().strip(), path, "the control: find sees one")
done()
