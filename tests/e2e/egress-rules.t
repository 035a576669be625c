#!/usr/bin/python3
"""A rule that is not what it should be refuses the run; a name, a wildcard and a port open what they say, by the real broker, and nothing that looks like
it. Rows NE06, NE07 and NE14."""
import os
import resource
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet, echo
from pf import *

REFUSED = [
    # names that are none, or that somebody else may take for another
    "ok.example\0.evil.example:9000", "ok.example\r:9000", "ok.example\n:9000", "ok.example\t:9000", "ok example:9000", "ok%2eexample:9000", "ok.example@evil.example:9000",
    "ok.example:9000@evil.example", "[ok.example]:9000", "ok\uff0eexample:9000", "\u00f6k.example:9000", "ok..example:9000", ".ok.example:9000", "-ok.example:9000", "ok_.example:9000",
    f"{'a' * 64}.example:9000", f"{'a' * 63}.{'b' * 63}.{'c' * 63}.{'d' * 63}:9000", ":9000", "https://ok.example:9000",
    # addresses in disguise
    "0x7f.1:9000", "0177.1:9000", "2130706433:9000", "127.1:9000", "127.0.0.1.:9000", "[fe80::1%lo]:9000", "[::ffff:7f00:1]:9000", "0.0.0.0:9000", "[::]:9000", "127.0.0.1:9000",
    # wildcards that say more than anybody means
    "*:9000", "*.example:9000", "*.com:9000", "a.*.example:9000", "*ok.example:9000", "**.ok.example:9000",
    # ports
    "ok.example", "ok.example:", "ok.example:0", "ok.example:65536", "ok.example:443abc", "ok.example:-1", "ok.example:9-8", "ok.example:1-257", "ok.example:+443", "ok.example: 443",
    # the order of the words
    "tcp:private:ok.example:9000", "tcp:udp:ok.example:9000", "udp:udp:ok.example:9000",
]
ASK = r"""
import errno, socket, sys
for word in sys.argv[1:]:
    name, port = word.rsplit("@", 1)
    try:
        with socket.create_connection((name, int(port)), 20) as s: s.sendall(b"hi"); print(word, s.recv(2).decode())
    except OSError as e: print(word, errno.errorcode.get(e.errno, "unknown"))
    except UnicodeError: print(word, "unknown")
"""
for rule in REFUSED:
    if "\0" in rule:
        continue  # no word of a command line has one: see the spec below
    run = pinfold("run", "--allow", rule, tiny(), "/bin/payload", "echo", "ran")
    is_((run.code, run.out), (125, b""), f"{rule.encode()}: refused")
spec = os.path.join(tmpdir(), "spec.json")
for rule in ("ok.example\\u0000.evil.example:9000", "ok.example\\n:9000"):
    with open(spec, "w", encoding="ascii") as file:
        file.write('{"egress": {"allow": ["%s"]}}' % rule)
    os.chmod(spec, 0o644)
    run = pinfold("run", "--spec", spec, tiny(), "/bin/payload", "echo", "ran")
    is_((run.code, run.out), (125, b""), f"{rule}, in a spec: refused")
is_(pinfold("run", "--allow", "ok.example:9000", tiny(), "/bin/payload", "echo", "ran").out, b"ran\n", "the control: a sound rule is not")

few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
runs = [pinfold("run", "--allow", "tcp:ok.example:9000-9255", tiny(), "/bin/payload", "echo", "ran", preexec_fn=few) for _ in range(20)]
# Neither what pid 1 makes of the broker's end nor how many sockets are on their way to it is told in place of the reason.
is_([str(run) for run in runs if run.status != "setup-failed" or b"RLIMIT_NOFILE" not in run.err], [], "more ports than files may be open: the way out is named, each time")

with Internet() as net:
    names = ("ok.example", "a.ok.example", "a.b.ok.example", "xok.example", "ok.example.evil.example", "one.example", "x.one.example")
    for name in names:
        net.dns.names[name] = ["93.184.216.24"]
    server = net.listen("93.184.216.24", 9000, echo)
    other = net.listen("93.184.216.24", 9001, echo)
    with net.home.entered():
        control = socket.create_connection(("93.184.216.24", 9001))
    control.close()

    def inside(*words):
        run = net.pinfold("run", "--allow", "*.ok.example:9000", "--allow", "One.Example.:9000", "@host", "/usr/bin/python3", "-c", ASK, *words)
        return dict(line.rsplit(" ", 1) for line in run.out.decode().splitlines()), run

    net.dns.log.clear()
    got, run = inside("a.ok.example@9000", "A.B.OK.example@9000", "a.ok.example.@9000", "one.example@9000", "ONE.EXAMPLE.@9000")
    is_(set(got.values()), {"hi"}, "a name and a wildcard's names, one label and more, in any case, with a dot at the end", run)
    is_({row["name"] for row in run.result["egress"]}, {"a.ok.example", "a.b.ok.example", "one.example"}, "each has one form in the result", run)
    is_(net.dns.asked, {"a.ok.example", "a.b.ok.example", "one.example"}, "and for the name server")
    net.dns.log.clear()
    before = len(server.hits)
    got, run = inside("ok.example@9000", "xok.example@9000", "ok.example.evil.example@9000", "x.one.example@9000", "example@9000")
    is_(set(got.values()), {"unknown"}, "what looks like them is not there: the bare domain, a longer label, something behind it", run)
    is_({row["verdict"] for row in run.result["egress"]}, {"denied"}, "and listed", run)
    got, run = inside("a.ok.example@9001", "one.example@22", "one.example@25")
    is_(set(got.values()), {"ECONNREFUSED"}, "a port that no rule has is refused", run)
    is_((net.dns.log, len(server.hits) - before, len(other.hits)), ([], 0, 1), "nothing was asked or reached; the host's own connection is the control")
done()
