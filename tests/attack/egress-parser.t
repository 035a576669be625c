#!/usr/bin/python3
"""A parser of the egress broker that was taken over reaches neither the host's loopback, nor an abstract socket, nor a denied name, nor an
address that no allowed name has: what is asked of the name servers, their own log tells."""
import os
import shutil
import select
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet, echo, own
from host import broker_of, leftovers
from pf import *

# Ended by the filter: the broker dies of it. Else what the attempt is told.
KILLED = ["socket", "unix-socket", "connect", "sendmsg", "bind", "abstract-connect", "open", "execve", "fork", "kill", "ptrace", "unshare"]
# What the same attempts are told without the jail: the control. A connected socket cannot be connected or bound anew.
UNCONFINED = {name: r": done$" for name in KILLED} | {
    "abstract-connect": r": EISCONN$", "bind": r": EINVAL$", "execve": "another program", "sendto": r": done$", "abstract-sendto": r": done$", "mmap": r": done$",
    "setsockopt": r": done$"}
TOLD = {
    "sendto": "sendto: EPERM", "abstract-sendto": "sendto: EPERM", "mmap": "mmap: EPERM", "setsockopt": "setsockopt: EPERM",
    "dial-loopback": "private:, no call", "dial-nat64-loopback": "private:, no call",
    "dial-metadata": "private:, no call", "dial-private": "private:, no call",
    "dial-port": "no call", "dial-no-rule": "no call", "dial-huge-rule": "no call", "dial-udp": "no call", "dial-transport": "no call",
"dial-server": "no call", "dial-kind": "no call", "short-request": "the dialer is gone",
    "dial-unanswered": "no name of the rule has the address, no call", "dial-beside": "no name of the rule has the address, no call",
    "dial-mixed": "no name of the rule has the address, no call",
}
# Names. What is sent as another record ends the broker; of its own name alone something is asked.
NO_RULE = ["ask-denied", "ask-below", "ask-behind", "ask-dot", "ask-case", "ask-nul", "ask-long", "ask-wire", "ask-rule", "ask-port", "ask-dns"]
ENDED = ["ask-two", "ask-dialer", "ask-answer"]
DENIED = "secret.evil.example"

# A pinfold beside whose libexec stands the hostile broker.
folder = tmpdir("root")
for part in ("bin", "libexec/pinfold"):
    os.makedirs(os.path.join(folder, part))
program = shutil.copy(os.path.join(BUILD, "bin/pinfold"), os.path.join(folder, "bin/pinfold"))
shutil.copy(os.path.join(BUILD, "tests/attack/hostile-egress"), os.path.join(folder, "libexec/pinfold/pinfold-egress"))


def any_waiting(sock):
    return bool(select.select([sock], [], [], 0)[0])


with Internet() as net:
    good = net.listen("93.184.216.10", 7000, echo)
    denied = net.listen("93.184.216.66", 7000, echo)
    home = net.listen("127.0.0.1", 7000, echo, holder=net.home)
    net.address("10.1.2.3")
    with net.home.entered():
        canary = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        datagram = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    canary.bind("\0pinfold-canary")
    canary.listen()
    canary.settimeout(0.01)
    datagram.bind(("127.0.0.1", 7000))
    datagram.settimeout(0.01)

    for name in ("dial-rule", "dial-beside", "ask-own", "ask-hidden"):
        net.dns.names[f"{name}.example"] = ["93.184.216.10"]
    net.dns.names["dial-mixed.example"] = ["93.184.216.66", "10.1.2.3"]

    # The second rule gives a connected socket to those that want one.
    def attempt(name, *rules):
        rules = rules or (f"{name}.example:7000", "udp:93.184.216.10:7000")
        return net.pinfold("run", *(word for rule in rules for word in ("--allow", rule)), tiny(), "/bin/payload", "sleep", "0.3", program=program)

    def said(run):
        return [row["reason"] for row in run.result["egress"]]

    control = os.path.join(BUILD, "tests/attack/hostile-control")
    for name, pattern in UNCONFINED.items():
        said_unconfined = subprocess.run(["nsenter", "-t", str(net.home.pid), "-n", control, name], stdout=subprocess.PIPE, check=False).stdout.decode()
        like(said_unconfined, pattern, f"{name}: the control, without a jail")
    while datagram.recv(10, socket.MSG_DONTWAIT) if any_waiting(datagram) else False:
        pass

    run = attempt("dial-rule")
    is_(said(run), ["dial: done"], "the control: what the rule allows is dialled", run)
    ok(len(good.hits) == 1, "and reached")
    for name in KILLED:
        run = attempt(name)
        is_((said(run), [w for w in run.result["warnings"] if "broker died" in w] != [], run.status), ([], True, "exited"),
            f"{name}: ended by the filter, the run goes on without a network and says so", run)
        is_(run.guarantee("egress")["state"], "degraded", "in the ledger too")
    for name, words in TOLD.items():
        run = attempt(name)
        ok(said(run) and words in said(run)[0], f"{name}: refused", f"{words!r} in {said(run)}?\n{run}")
    for name in "odd-row", "huge-sum", "odd-others", "no-count", "odd-record":
        run = attempt(name)
        is_((run.status, run.result["egress"]), ("exited", []), f"{name}: the supervisor takes no nonsense, and ends the broker", run)
    run = attempt("flood")
    is_((run.status, [w for w in run.result["warnings"] if "broker died" in w] != []), ("exited", True), "a flood of rows ends the broker, not the supervisor", run)

    # ---- names ----
    net.dns.log.clear()
    run = attempt("ask-own")
    is_((said(run), net.dns.asked), (["name: done"], {"ask-own.example"}), "the control: the name that a rule has is asked for", run)
    for transport in "udp", "tcp":
        net.dns.log.clear()
        block = ("udp:" if transport == "udp" else "") + "93.184.216.1:53"
        run = attempt(f"query-{transport}", f"query-{transport}.example:7000", block)
        is_((said(run), net.dns.asked), (["query: done"], {DENIED}), f"the control: by {transport} a denied name gets there where a rule opens the name server itself", run)
    net.dns.log.clear()
    for transport in "udp", "tcp":
        run = attempt(f"query-{transport}", f"query-{transport}.example:7000", ("udp:" if transport == "udp" else "") + "*.query.example:53")
        is_(said(run), ["query: no socket"], f"by {transport}: a rule for names on port 53 opens no name server", run)
    for name in NO_RULE:
        run = attempt(name)
        is_(said(run), ["name: no rule"], f"{name}: refused", run)
    is_(net.dns.log, [], "and nothing of all that reached a name server")
    run = attempt("ask-hidden")
    is_((said(run), net.dns.asked), (["name: done"], {"ask-hidden.example"}), "ask-hidden: bytes behind the name are not asked for", run)
    net.dns.log.clear()
    for name in ENDED:
        run = attempt(name)
        is_(said(run), ["name: the dialer is gone"], f"{name}: ends the broker", run)
    is_(net.dns.log, [], "and no name server was asked")
    mark = own("flood")
    run = net.pinfold("run", "--id", mark, "--allow", "ask-flood.example:7000", tiny(), "/bin/payload", "sleep", "0.3", program=program)
    is_((run.status, run.code, broker_of(mark), leftovers(mark)), ("exited", 0, [], []), "ask-flood: the run ends all the same, and nothing is left of the broker", run)
    is_(net.dns.log, [], "and no name server was asked")

    is_((denied.hits, home.hits, len(good.hits)), ([], [], 2), "no listener of the host or of a denied name was reached")
    for sock, what in ((canary, "abstract socket"), (datagram, "loopback by UDP")):
        try:
            sock.accept() if sock is canary else sock.recv(1)
            ok(False, f"the host's {what} was not reached")
        except TimeoutError:
            ok(True, f"the host's {what} was not reached")
done()
