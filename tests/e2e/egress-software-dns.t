#!/usr/bin/python3
"""Real resolvers inside, dnsmasq outside: whatever asks, however it asks, only allowed names come to the host's name server, and those as
they are, without a search domain. Its log says so. See NE15."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet
from pf import *
from egress_software import *
from software import absent, place_of

# More addresses than an answer over UDP holds: 100 x 16 bytes.
MANY = [f"93.184.216.{number}" for number in range(100, 200)]
RULES = ["one.example:80", "*.files.example:80"]
ALLOW = [word for rule in RULES for word in ("--allow", rule)]
SERVER = "93.184.216.53"

with Internet() as net:
    names = dnsmasq(net, {"one.example": ["93.184.216.10", "2606:2800:220:1::10"], "one.home.example": ["93.184.216.10"], "short.home.example": ["93.184.216.10"],
                          "a.files.example": ["93.184.216.10"], "evil.example": ["93.184.216.66"], "secret.evil.example": ["93.184.216.66"], "many.example": MANY})
    far = dnsmasq(net, {"far.example": ["93.184.216.77"], "ns.example": ["93.184.216.54"]}, "93.184.216.54", port=5353)
    web = nginx(net, [vhost(net, "93.184.216.10", ["one.example", "*.files.example", "many.example"], "page")])
    net.address("93.184.216.150")

    # Each way to ask, and what it says of an allowed name; the name stands for %s. Then the same for one that is denied.
    node = place_of("node")
    WAYS = [
        ("getent hosts", "@host", "getent hosts %s | awk '{print $1}'"),
        ("getent ahosts", "@host", "getent ahosts %s | awk '{print $1}' | sort -u"),
        ("getent over TCP", "@host", "RES_OPTIONS=use-vc getent hosts %s | awk '{print $1}'"),
        ("getent with EDNS", "@host", "RES_OPTIONS='edns0 trust-ad' getent hosts %s | awk '{print $1}'"),
        ("getent with search domains", "@host", "LOCALDOMAIN='home.example evil.example' RES_OPTIONS=ndots:9 getent hosts %s | awk '{print $1}'"),
        ("dig", "@host", "dig +short %s"),
        ("dig over TCP", "@host", "dig +short +tcp %s"),
        ("dig without EDNS", "@host", "dig +short +noedns %s"),
        ("dig with DNSSEC and a large buffer", "@host", "dig +short +dnssec +bufsize=65535 +nsid +padding=128 %s"),
        ("dig with a name of mixed case", "@host", "dig +short $(echo %s | tr aeo AEO)"),
        ("dig of an absolute name, without recursion", "@host", "dig +short +norecurse %s."),
        ("host", "@host", "host -t A %s | awk '/has address/ {print $NF}'"),
        ("nslookup", "@host", "nslookup %s | awk '/^Address: 198/ {print $2}'"),
        ("busybox nslookup", busybox_image(), "nslookup %s 198.18.0.1 | awk '/^Address.*198.18.1/ {print $NF}'"),
        ("busybox ping", busybox_image(), "ping -c 1 -W 1 %s 2>&1 | sed -n 's/PING .*(\\(198[0-9.]*\\)).*/\\1/p'"),
        ("python", "@host", "python3 -c 'import socket; print(*{a[4][0] for a in socket.getaddrinfo(\"%s\", 80)})' 2>/dev/null || true"),
        ("perl", "@host", "perl -MSocket -e 'my $a = inet_aton(\"%s\"); print inet_ntoa($a), \"\\n\" if $a'"),
        ("node's lookup", node, "node -e 'require(\"dns\").lookup(\"%s\", (e, a) => a && console.log(a))'"),
        ("node's own resolver", node, "node -e 'require(\"dns\").resolve4(\"%s\", (e, a) => a && console.log(...a))'"),
    ]
    _, out = on_host(net, "sh", "-c", "for n in one.example evil.example; do getent ahostsv4 $n | awk '{print $1}' | sort -u; dig +short +tcp $n; dig +short +dnssec $n; done")
    is_(out.split(), ["93.184.216.10"] * 3 + ["93.184.216.66"] * 3, "the control: the host resolves both")
    ok({"one.example", "evil.example"} <= names.asked(), "and the name server's log has both", names.queries())
    for client, image_of, command in WAYS:
        if image_of is None:
            skip(absent("node"), client)
            continue
        names.clear()
        run = net.pinfold("run", *ALLOW, image_of, "/bin/sh", "-c",
                          f"{command % 'one.example'}; echo -; {command % 'a.files.example'}; echo -; {command % 'secret.evil.example'}; exit 0")
        is_(run.out.split(), [b"198.18.1.0", b"-", b"198.18.1.1", b"-"], f"{client}: the allowed names have their addresses, the denied one has none", run)
        ok(rows(run, name="secret.evil.example", transport="dns", verdict="denied"), f"{client}: it is listed", run)
        is_(names.queries(), [], f"{client}: the host's name server was asked nothing")

    # ---- what is asked when a connection is made ----
    names.clear()
    _, out = on_host(net, "sh", "-c", "getent hosts short | awk '{print $1}'; dig +noedns +ignore many.example | grep -c 'flags:.* tc '; dig +short many.example | wc -l")
    is_((out.split(), "short.home.example" in names.asked()), (["93.184.216.10", "1", "100"], True),
        "the control: the host finds a short name by its search domain; an answer of 100 addresses needs TCP")
    names.clear()
    run = inside(net, RULES, "@host", "export LOCALDOMAIN=home.example; curl -sS http://one.example/; curl -sS ONE.EXAMPLE.; curl -sS http://a.files.example/; "
                 "getent hosts short || echo short; curl -s http://evil.example/ || echo evil; curl -s http://one/ || echo one; curl -s http://www.one.example/ || echo www")
    is_(run.out.split(), [b"page"] * 3 + [b"short", b"evil", b"one", b"www"], "pages of allowed names, by http", run)
    is_(names.asked(), {"one.example", "a.files.example"}, "the name server was asked for these, without a search domain, and for nothing else")
    is_({kind for kind, _, _ in names.queries()}, {"A", "AAAA"}, "for their addresses alone")
    names.clear()
    run = inside(net, ["many.example:80"], "@host", "curl -sS --max-time 20 http://many.example/ || echo failed")
    is_([row["verdict"] for row in rows(run, name="many.example", transport="tcp")], ["failed"], "a name with 100 addresses, at the first of which nobody listens", run)
    is_(rows(run, name="many.example")[0]["errno"] in ("EHOSTUNREACH", "ECONNREFUSED", "ETIMEDOUT"), True, "was resolved, by TCP: what failed is connecting", run)
    is_(names.asked(), {"many.example"}, "only it was asked for")

    # ---- the resolver is no way to say something to somebody ----
    DIRECT = [
        ("UDP to the host's name server", f"dig +short +time=2 +tries=1 @{SERVER} secret.evil.example"),
        ("TCP to it", f"dig +short +tcp +time=2 +tries=1 @{SERVER} secret.evil.example"),
        ("UDP 443 to it", f"dig +short +time=2 +tries=1 -p 443 @{SERVER} secret.evil.example"),
        ("TLS to it", f"openssl s_client -connect {SERVER}:853 </dev/null 2>/dev/null | grep CONNECTED"),
        ("multicast", "dig +short +time=1 +tries=1 -p 5353 @224.0.0.251 secret.evil.example"),
        ("another server", "dig +short +time=2 +tries=1 -p 5353 @93.184.216.54 far.example"),
    ]
    second = dnsmasq(net, {"secret.evil.example": ["93.184.216.66"]}, SERVER, port=443)
    tls = net.tls(SERVER, 853, ["ns.example"], lambda connection, _: connection.recv(1))
    for what, command in DIRECT:
        if what != "multicast":
            _, out = on_host(net, "sh", "-c", command)
            ok(out.strip() in ("93.184.216.66", "93.184.216.77", "CONNECTED(00000003)"), f"{what}: the control, the host gets an answer", out)
    for log in (names, second, far):
        log.clear()
    before = len(tls.hits)
    for what, command in DIRECT:
        run = net.pinfold("run", *ALLOW, "@host", "/bin/sh", "-c", f"{command} | grep -v '^;'; exit 0")
        is_((run.status, run.out), ("exited", b""), f"{what}: nothing comes back", run)
    SAY = "for t in A AAAA TXT MX NS SOA ANY CNAME PTR SRV NULL HTTPS DS AXFR; do for n in 1.data.evil.example 2.data.evil.example x.one.example one.example; do dig +short +time=2 +tries=1 -t $t $n; done; done | grep -v '^;'; dig +short -x 8.8.8.8; exit 0"
    run = net.pinfold("run", *ALLOW, "@host", "/bin/sh", "-c", SAY, timeout=100)
    is_((run.status, {line for line in run.out.split()}), ("exited", {b"198.18.1.0"}), "all types: an allowed name has an address and nothing else", run)
    is_((names.queries(), second.queries(), far.queries(), len(tls.hits) - before), ([], [], [], 0), "nothing of all that came to any server")

    # ---- datagrams that a rule does let out ----
    run = net.pinfold("run", "--allow", "udp:93.184.216.54:5353", "--allow", "udp:one.example:5353", "@host", "/bin/sh", "-c",
                      "dig +short +time=5 -p 5353 @93.184.216.54 far.example; dig +time=2 +tries=1 -p 5353 @198.18.1.0 evil.example | grep -o 'no servers could be reached'; exit 0")
    is_((run.out.decode().splitlines(), far.asked()), (["93.184.216.77", "no servers could be reached"], {"far.example"}), "a rule with udp: opens one server to dig, on one port", run)
    is_(verdicts(run), {("93.184.216.54", 5353, "allowed"), ("one.example", 5353, "allowed")}, "both flows are listed", run)
done()
