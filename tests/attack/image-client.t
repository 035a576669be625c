#!/usr/bin/python3
"""A registry's client that was taken over (tests/image/hostile.c, in the jail of the real one) reads no file of the host, makes and
removes none, executes nothing, reaches no unix socket and no other process; what it says is not believed; and how it ended is told."""
import json
import os
import socket
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *
from fake_registry import *

HOSTILE = staged(os.path.join(BUILD, "tests/image-hostile"))
REFERENCE = "127.0.0.1:1/x:v1"  # nobody is there, and nobody is asked
FILTER = "ended by its filter: it made a system call that a registry's client does not need"


def hostile(how, *options, name=REFERENCE, folder=None, **env):
    return pinfold("insecure=1", *options, name, folder or tmpdir(), program=HOSTILE, env={"HOSTILE": how, **env})


def attempt(how, want, name):
    """The control reaches it outside of the jail; inside it is blocked with that errno, or ends by the filter (None)."""
    run = hostile(how, HOSTILE_OUTSIDE="1")
    like(run.out.decode(), "^reached", f"control: {name}")
    run = hostile(how)
    if want:
        like(run.out.decode(), f"retry .* blocked {want}\n", f"jailed: {want}")
    else:
        like(run.err.decode(), FILTER, "jailed: it ends, and the message says so")
        unlike(run.out.decode(), "reached", "without having reached it")
    is_(run.code, 1, "and the pull fails", run)


folder = tmpdir()
removed = os.path.join(folder, "removed")


def with_file():
    with open(removed, "w", encoding="utf-8"):
        pass
    os.chmod(removed, 0o666)


# ---- files ----
attempt("read:/etc/passwd", "ENOENT", "a file of the host is read")
attempt("read:/proc/self/environ", "ENOENT", "and one of /proc")
attempt("climb:../../../etc/passwd", "ENOENT", "out of a folder's descriptor")
attempt(f"make:{folder}/made", "ENOENT", "a file is made")
like(hostile("make:/made").out.decode(), "blocked EROFS", "jailed: nor one in its own root")
like(hostile("make:/etc/hosts").out.decode(), "blocked E(ROFS|ACCES)", "jailed: nor are its own files written to")
with_file()
attempt(f"remove:{removed}", None, "a file is removed")
attempt("chmod", None, "a mode is changed")
attempt("grow", "EPERM", "a file for a document grows")

# ---- processes and programs ----
attempt("execute:/bin/echo", None, "a program is executed")
attempt("fork", "EPERM", "a process is made")
attempt("trace", None, "a process may be traced")
attempt("memory", None, "memory of a process is read")
attempt("signal", None, "a signal is sent")
attempt("unshare", None, "unshare(2) is called")
attempt("environment:HOSTILE=environment", "ENOENT", "what is in the environment is known")

# ---- sockets ----
# The network namespace is the host's, and abstract names are in it.
stream, records, datagram = (socket.socket(socket.AF_UNIX, kind) for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM))
unix = f"pinfold-test-{os.getpid()}"
for listener in (stream, records):  # names are told apart by kind
    listener.bind("\0" + unix + "-s")
    listener.listen(16)
datagram.bind("\0" + unix + "-d")
attempt(f"unix-stream:{unix}-s", "EAFNOSUPPORT", "an abstract unix socket is connected to")
attempt(f"unix-datagram:{unix}-d", "EAFNOSUPPORT", "one for datagrams")
attempt(f"unix-pair:{unix}-d", "EAFNOSUPPORT", "a datagram is sent out of a pair")
like(hostile(f"unix-again:{unix}-s").out.decode(), "blocked EISCONN", "jailed: what is connected, its caller's end included, is connected to nobody else")
attempt("netlink", "EAFNOSUPPORT", "netlink")
attempt("bind:0", None, "a port is served")
tcp = socket.create_server(("127.0.0.1", 0))
for outside in ({"HOSTILE_OUTSIDE": "1"}, {}):
    like(hostile(f"tcp:{tcp.getsockname()[1]}", **outside).out.decode(), "reached",
         "what it can do, jailed or not, and docs/images.md says: speak TCP with whoever the caller can reach")

# ---- lies ----
files = tmpdir()
blob = os.urandom(100000)
manifest = json.dumps({"schemaVersion": 2, "mediaType": MANIFEST, "config": media(CONFIG, blob), "layers": []}).encode() + b"\n"
for name, data in (("manifest", manifest), ("blob", blob)):
    with open(os.path.join(files, name), "wb") as file:
        file.write(data)
    os.chmod(os.path.join(files, name), 0o644)
PINNED = f"127.0.0.1:1/x@{digest(manifest)}"


def lie(how, name=PINNED):
    """The run, and what is in the blob's file: b"" stands for nothing of use."""
    folder = tmpdir()
    run = hostile(how, name=name, folder=folder, HOSTILE_FILES=files)
    path = os.path.join(folder, digest(blob).split(":")[1])
    if not os.path.exists(path):
        return run, None
    with open(path, "rb") as file:
        return run, file.read()


run, got = lie("nothing")
is_((run.code, got == blob), (0, True), "control: a client that does what it should", run)
for how, why in (("other-manifest", "wrong digest"), ("short-manifest", "wrong digest"), ("word-size", "registry's client"),
                 ("word-document", "says what cannot be"), ("word-blob", "says what cannot be"), ("word-kind", "says what cannot be"),
                 ("word-type", "says what cannot be"), ("leave", "ended without a word"), ("deaf", r"ended by signal 9 \(KILL\)"),
                 ("crash", r"ended by signal \d+ \((ILL|TRAP)\)")):
    run, got = lie(how)
    is_((run.code, got), (1, None), f"{how}: no blob is asked for", run)
    like(run.err.decode(), why, "and the message says why")
run, got = lie("other-manifest", REFERENCE)
is_((run.code, got == blob), (0, True), "control: of a name without a digest it may give any manifest")
for how in ("wrong-blob", "late-write"):
    run, got = lie(how)
    is_((run.code, got), (1, b""), f"{how}: nothing of it is kept", run)
    like(run.err.decode(), "the registry's client is wrong: .*is another one", "it is hashed after the client's death")
run, got = lie("too-much")
is_(run.code, 1, "one that writes more than the blob has is ended", run)
like(run.err.decode(), "wrote more than it has", "and the message says so")
like(lie("far")[0].out.decode(), "retry .* EFBIG", "far behind what any blob has nothing can be written")
run, got = lie("deaf-blob")
is_((run.code, got == blob), (1, True), "one that goes on without its socket is ended; what is there is the beginning of the blob", run)

# ---- the real one, at work ----
half, let_go = threading.Event(), threading.Event()


def stall(handler, count):
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(big)))
    handler.end_headers()
    handler.wfile.write(big[:1000])
    half.set()
    let_go.wait(60)
    handler.close_connection = True
    return True


big, inner = layer("x", os.urandom(1 << 20))
server = Registry()
server.image("x", "v1", [(big, inner)])
server.faults[f"/v2/x/blobs/{digest(big)}"] = stall
with start("insecure=1", "retries=0", f"{server.name}/x:v1", tmpdir(), program=staged(os.path.join(BUILD, "tests/image-pull"))) as running:
    half.wait(60)
    with open(f"/proc/{running.pid}/task/{running.pid}/children", encoding="utf-8") as file:
        children = file.read().split()
    is_(len(children), 1, "the client is the only child")
    with open(f"/proc/{children[0]}/status", encoding="utf-8") as file:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    is_([int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")], [0] * 5, "it has no capability")
    is_((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"), "no new privileges, and a filter")
    is_(status["Groups"].split() if os.geteuid() == 0 and WHO == "root" else [], [], "as root, no supplementary group")
    if os.geteuid() == 0:
        here = f"/proc/{children[0]}/"
        same = {name: os.readlink(here + f"ns/{name}") == os.readlink(f"/proc/self/ns/{name}")
                for name in ("user", "mnt", "pid", "ipc", "uts", "cgroup", "net")}
        is_(same, {**dict.fromkeys(("user", "mnt", "pid", "ipc", "uts", "cgroup"), False), "net": True}, "namespaces of its own, but for the network")
        is_(set(os.listdir(here + "root")) - {"etc", "ca.pem", "certs"}, set(), "its root has certificates and etc")
        is_(set(os.listdir(here + "root/etc")) - {"resolv.conf", "hosts", "nsswitch.conf", "host.conf", "gai.conf"}, set(), "which has what a name needs")
        kinds = sorted(os.readlink(here + f"fd/{fd}").split(":")[0] for fd in os.listdir(here + "fd"))
        ok(not any(kind.startswith(("/etc", "/var/lib", "/dev", "/proc")) for kind in kinds), "no descriptor of anything else", kinds)
    else:
        skip("needs root", "what its namespaces and its root are")
    running.process.kill()
    running.process.wait()
    wait_for(lambda: not os.path.exists(f"/proc/{children[0]}"), what="the client's end")
    ok(True, "a caller that is killed takes it along")
let_go.set()
done()
