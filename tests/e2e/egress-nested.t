#!/usr/bin/python3
"""Inside namespaces of somebody's a run with --allow reaches what it allows, and nothing else: in a user namespace of an ordinary user, as its root, and
with a network that is cut off."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet, echo
from pf import *
import pf

TALK = r"""
import errno, socket
def attempt(host):
    try:
        with socket.create_connection((host, 9000), 20) as s: s.sendall(b"hi"); return s.recv(2).decode()
    except OSError as e: return errno.errorcode.get(e.errno, "unknown name")
print(attempt("echo.example"), attempt("evil.example"), attempt("93.184.216.24"))
"""
PLACES = {"root of a user namespace": ["-r"], "with namespaces for mounts and processes": ["-r", "-m", "-p", "-f", "--mount-proc"]}
if WHO == "root":
    PLACES = {"root in a pid namespace": ["-p", "-f", "--mount-proc"]}
with Internet() as net:
    net.dns.names["echo.example"] = ["93.184.216.24"]
    server = net.listen("93.184.216.24", 9000, echo)

    def inside(*options):
        result = os.path.join(tmpdir(), "result.json")
        account = pf._credentials(WHO)
        drop = ["setpriv", "--reuid", str(account["user"]), "--regid", str(account["group"]), "--clear-groups"] if account else []
        argv = ["nsenter", "-t", str(net.home.pid), "-n", "-m", "--wd=/", *drop, "unshare", *options, program_path(), "run", "--result", result,
                "--allow", "echo.example:9000", "@host", "/usr/bin/python3", "-c", TALK]
        ended = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False, env=pf._environment(WHO))
        return Run(argv, ended.returncode, ended.stdout, ended.stderr, 0, result, None)

    for what, options in PLACES.items():
        run = inside(*options)
        is_(run.out, b"hi unknown name ENETUNREACH\n", f"{what}: what is allowed is reached", run)
        is_(run.guarantee("egress")["state"], "enforced", f"{what}: in full", run)
    before = len(server.hits)
    run = inside(*(["-r"] if WHO == "user" else []), "-n")
    is_(run.out, b"ECONNRESET unknown name ENETUNREACH\n", "in a network namespace without a network: nothing is", run)
    is_([(row["verdict"], row["reason"]) for row in run.result["egress"] if row["name"] == "echo.example"], [("failed", "the name servers do not answer")], "and the result says why", run)
    is_(len(server.hits), before, "no server was reached")
done()
