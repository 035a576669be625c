#!/usr/bin/python3
"""The host's resolv.conf as it is found: a stub on the loopback, IPv6, several of which one is dead, options and lines that nobody knows. The
host's own getent is the control: what it finds by that file, a run finds too."""
import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Dns, Internet, page
from pf import *
from egress_software import dnsmasq, on_host

STUB, SIX, DEAD, MUTE = "127.0.0.53", "2606:2800:220:1::53", "93.184.216.98", "93.184.216.97"
FILES = {
    "a stub on the loopback": f"# made by somebody\n; and a comment\nnameserver {STUB}\noptions edns0 trust-ad\nsearch .\n",
    "IPv6": f"nameserver {SIX}\n",
    "tabs, spaces and a last line without its end": f"\n  \nnameserver\t  {STUB}  \nsearch\thome.example  lan.example",
    "options that are for others": f"nameserver {STUB}\noptions ndots:15 timeout:1 attempts:1 rotate no-aaaa single-request-reopen use-vc inet6 nonsense:7 =\nsortlist 130.155.160.0/255.255.240.0\nfamily inet6\nlookup file bind\n",
    "a search list": f"domain home.example\nsearch a.example b.example c.example d.example e.example f.example g.example h.example\nnameserver {STUB}\n",
    "one that is dead first": f"nameserver {DEAD}\nnameserver {STUB}\n",
    "two that are dead first": f"nameserver {DEAD}\nnameserver 127.0.0.99\nnameserver {STUB}\n",
    "one that is mute first": f"nameserver {MUTE}\nnameserver {STUB}\noptions timeout:1\n",
    "the same one three times": f"nameserver {STUB}\n" * 3,
    "what is no address": f"nameserver not-an-address\nnameserver 1.2.3\nnameserver {STUB}\n",
    "one by its scope": f"nameserver {STUB}\nnameserver fe80::1%up0\n",
    "more than anybody asks": "".join(f"nameserver 93.184.216.{n}\n" for n in range(90, 92)) + f"nameserver {STUB}\n" + "".join(f"nameserver 93.184.216.{n}\n" for n in range(70, 90)),
    "a long one": f"nameserver {STUB}\n" + "# more\n" * 5000,
}
with Internet() as net:
    net.dns.names["web.example"] = ["93.184.216.10"]
    web = net.listen("93.184.216.10", 80, page("page"))
    for number in (*range(70, 92), 98):
        net.address(f"93.184.216.{number}")
    net.address(MUTE)
    with net.world.entered():
        mute = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    mute.bind((MUTE, 53))
    stub = Dns(net.home, STUB)
    six = dnsmasq(net, {"web.example": ["93.184.216.10"]}, SIX)
    stub.names["web.example"] = ["93.184.216.10"]
    for what, text in FILES.items():
        net.resolv_conf(text)
        code, out = on_host(net, "getent", "ahostsv4", "web.example.")
        is_((code, out.split()[:1]), (0, ["93.184.216.10"]), f"{what}: the control, the host finds the name")
        stub.log.clear()
        six.clear()
        run = net.pinfold("run", "--allow", "web.example:80", "@host", "/usr/bin/python3", "-c", "import urllib.request as u; print(u.urlopen('http://web.example/', timeout=20).read().decode())")
        is_(run.out, b"page\n", f"{what}: so does a run", run)
        is_(stub.asked | six.asked(), {"web.example"}, f"{what}: by the name alone")

    # ---- servers that know A and stumble over AAAA, as many do ----
    net.resolv_conf(f"nameserver {STUB}\n")
    AAAA = 28
    for what, code in (("FORMERR", 1), ("SERVFAIL", 2), ("NXDOMAIN", 3), ("NOTIMP", 4), ("REFUSED", 5), ("silence", None)):
        name = f"{what.lower()}.web.example"
        stub.names[name] = ["93.184.216.10"]
        if code is None:
            stub.silent.add((name, AAAA))
        else:
            stub.codes[name, AAAA] = code
        code, out = on_host(net, "getent", "ahostsv4", name + ".")
        is_((code, out.split()[:1]), (0, ["93.184.216.10"]), f"{what} for AAAA: the control, the host finds the name")
        run = net.pinfold("run", "--allow", f"{name}:80", "@host", "/usr/bin/python3", "-c", f"import urllib.request as u; print(u.urlopen('http://{name}/', timeout=20).read().decode())")
        is_(run.out, b"page\n", f"{what} for AAAA: so does a run", run)
        ok((name, AAAA) in stub.log, f"{what} for AAAA: it was asked for")

    stub.close()
    for what, text in (("an empty file", ""), ("no name server in it", "search home.example\n"), ("none that is an address", "nameserver nobody\n")):
        net.resolv_conf(text)
        run = net.pinfold("run", "--allow", "web.example:80", "@host", "/bin/sh", "-c", "getent hosts web.example | wc -l; curl -s http://web.example/ || echo no")
        is_((run.out.split(), [row["verdict"] for row in run.result["egress"]]), ([b"1", b"no"], ["failed"]), f"{what}: nothing is found, and the run goes on", run)
done()
