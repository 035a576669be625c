#!/usr/bin/python3
"""The broker's life: none without a rule, three jailed processes with one; its death leaves no network, and nothing of it is left."""
import os
import shutil
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet, echo, own
from host import broker_of, leftovers, processes
from pf import *


def read(path):
    with open(path, "rb") as file:
        return file.read()


def status(pid):
    return dict(line.split(b":\t", 1) for line in read(f"/proc/{pid}/status").splitlines() if b":\t" in line)


def below_root(pid):
    """The names in a process's root; the descriptors' folder of a process that has ended is nobody's."""
    try:
        return os.listdir(f"/proc/{pid}/root")
    except ProcessLookupError:
        return []


TALK = r'''
import socket, errno, sys
def attempt(host):
    try:
        with socket.create_connection((host, 9000), 5) as s: s.sendall(b"hi"); return s.recv(2).decode()
    except OSError as e: return errno.errorcode.get(e.errno, "unknown name")
s = socket.create_connection(("echo.example", 9000), 5); s.sendall(b"x"); s.recv(1)
print(attempt("echo.example"), flush=True)
if sys.stdin.readline() == "end\n": sys.exit()
try: print(repr(s.recv(1)))
except OSError as e: print(errno.errorcode[e.errno])
print(attempt("198.18.1.0"), attempt("echo.example"))
'''
with Internet() as net:
    net.dns.names["echo.example"] = ["93.184.216.24"]
    net.listen("93.184.216.24", 9000, echo)

    def begin(mark, *more):
        return net.start("run", "--id", mark, "--env", f"MARK={mark}", "--stdin", "-", *more, "@host", "/usr/bin/python3", "-c", TALK,
                         stdin=-1)

    with begin(own("none")) as running:
        is_(broker_of(own("none")), [], "no rule: no broker")
        running.wait(stdin=b"\n")

    with begin(own("jailed"), "--allow", "echo.example:9000") as running:
        is_(running.line(), "hi", "a run with a rule connects")
        pids = broker_of(own("jailed"))
        is_(len(pids), 3, "it has a broker of three processes")
        supervisor = next(pid for pid in processes(own("jailed")) if b"\0run\0" in read(f"/proc/{pid}/cmdline"))
        for pid, what in zip(pids, ("dialer", "parser", "resolver")):
            facts = status(pid)
            is_({key: int(facts[key.encode()], 16) for key in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")},
                dict.fromkeys(("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"), 0), f"{what}: no capability in any set")
            is_((facts[b"Seccomp"], facts[b"NoNewPrivs"], facts[b"Groups"].strip() if WHO == "root" else b""), (b"2", b"1", b""), f"{what}: a filter, no new privileges, no groups")
            ok(WHO != "root" or int(facts[b"Uid"].split()[0]) > 65535, f"{what}: as root, an id that is nobody else's", facts[b"Uid"])
            is_(below_root(pid), [], f"{what}: an empty root")
            is_(read(f"/proc/{pid}/environ") + read(f"/proc/{pid}/cmdline").split(b"\0", 1)[1].strip(b"\0"), b"", f"{what}: no words, no environment")
            blocked = int(facts[b"SigBlk"], 16)
            is_([number for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if not blocked >> (number - 1) & 1], [], f"{what}: a terminal's signals are the supervisor's")
            limits = {line[:26].strip(): line[26:].split()[0] for line in read(f"/proc/{pid}/limits").splitlines()}
            is_((limits[b"Max processes"], limits[b"Max file size"], limits[b"Max core file size"]), (b"0", b"0", b"0"), f"{what}: no processes, files, cores")
        listeners = {os.readlink(f"/proc/{pids[1]}/fd/{fd}") for fd in os.listdir(f"/proc/{pids[1]}/fd")}
        others = {os.readlink(f"/proc/{pid}/fd/{fd}") for pid in processes(own("jailed")) for fd in os.listdir(f"/proc/{pid}/fd")}
        is_({link for link in listeners & others if link.startswith("socket:")}, set(), "neither supervisor nor pid 1 nor the program holds a socket of the parser's")
        held = [{os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")} for pid in (supervisor, *pids)]
        is_({link for link in held[3] & (held[0] | held[1] | held[2]) if link.startswith("socket:")}, set(), "the resolver holds no socket of the others'")
        is_(len(held[3]), 2, "and has its two ends to the dialer alone, while nobody asks it")
        run = running.wait(stdin=b"end\n")
        is_((run.status, run.code), ("exited", 0), "it ends", run)
    is_(leftovers(own("jailed")), [], "and leaves nothing")

    for victim, what in enumerate(("dialer", "parser", "resolver")):
        mark = own(f"dies-{what}")
        with begin(mark, "--allow", "echo.example:9000") as running:
            is_(running.line(), "hi", f"the {what} is killed while the program runs")
            os.kill(broker_of(mark)[victim], signal.SIGKILL)
            wait_for(lambda m=mark: broker_of(m) == [])
            run = running.wait(stdin=b"\n")
        is_(run.out.decode().splitlines()[1:], [run.out.decode().splitlines()[1], "ECONNREFUSED unknown name"], "everything is refused at once", run)
        ok(run.out.decode().splitlines()[1] in ("b''", "ECONNRESET"), "what was open is closed", run)
        is_((run.status, run.code), ("exited", 0), "the run goes on", run)
        row = run.guarantee("egress")
        is_((row["state"], [w for w in run.result["warnings"] if "broker" in w] != []), ("degraded", True), "the result says so", run)

    with begin(own("killed"), "--allow", "echo.example:9000") as running:
        is_(running.line(), "hi", "pinfold itself is killed")
        pids = broker_of(own("killed"))
        wanted = next(pid for pid in processes(own("killed")) if b"\0run\0" in read(f"/proc/{pid}/cmdline"))
        os.kill(wanted, signal.SIGKILL)
        wait_for(lambda: not any(os.path.exists(f"/proc/{pid}") and status(pid)[b"State"][:1] != b"Z" for pid in pids))
        ok(True, "all processes of the broker are gone with it")
        wait_for(lambda: leftovers(own("killed")) == [] or all("cgroup" in line for line in leftovers(own("killed"))))
        running.process.wait()

    run = net.pinfold("run", "--allow", "echo.example:9000", "--require", "egress", "--events", "fd:2", "@host", "/usr/bin/python3", "-c",
                      "import socket\nfor i in range(3):\n    s = socket.create_connection(('echo.example', 9000)); s.sendall(b'x'); s.recv(1); s.close()")
    is_(run.guarantee("egress")["state"], "enforced", "--require egress holds", run)
    like(run.guarantee("egress")["value"], "seccomp", "and says by what")
    run = net.pinfold("run", "--allow", "echo.example:9000", "@host", "/usr/bin/python3", "-c",
                      "import socket\nfor i in range(3):\n    s = socket.create_connection(('echo.example', 9000)); s.sendall(b'x'); s.recv(1); s.close()\n"
                      "try: socket.gethostbyname('evil\\x1b[31m.example')\nexcept OSError: pass", events=True)
    rows = [event["egress"] for event in run.events if event["event"] == "egress"]
    is_([(row["name"], row["verdict"], row["count"]) for row in rows[:1]], [("echo.example", "allowed", 1)], "an event tells of a row when it is new", run)
    is_([(row["name"], row["count"]) for row in run.result["egress"] if row["verdict"] == "allowed"], [("echo.example", 3)], "the result has the sum", run)
    unlike(str([row["name"] for row in run.result["egress"]]), "\x1b", "no control character of the program's gets into the document")

run = pinfold("explain", "--allow", "Packages.example:80,443", "--allow", "10.1.2.0/24:5432", "@host", "true")
like(run.out.decode(), r"10\.1\.2\.0/24:5432\n +packages\.example:80,443, TLS for the name on 443, HTTP for the name on 80\n", "explain tells what a rule comes to")
alone = os.path.join(tmpdir("root"), "bin")
os.mkdir(alone)
os.chmod(alone, 0o755)
program = shutil.copy(os.path.join(BUILD, "bin/pinfold"), alone)
for verb in "run", "explain":
    run = pinfold(verb, "--allow", "packages.example:443", "@host", "true", program=program)
    is_(run.code, 125, f"{verb} without the broker's program is refused", run)
    like(run.err.decode(), r"--allow needs .*/libexec/pinfold/pinfold-egress, which `make install` puts there", "in these words")
is_(pinfold("run", "@host", "true", program=program).code, 0, "a run without a rule does not need it")
done()
