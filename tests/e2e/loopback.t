#!/usr/bin/python3
"""Without a network there is still a loopback, in both families and the sandbox's own; everything else is unreachable at once."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from host import canary_listener
from pf import *

if not os.path.exists("/usr/bin/python3"):
    skip_all("needs python3 on the host, for @host")

PROGRAM = """
import errno, socket, sys, threading
for family, address in (socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"), (socket.AF_INET, "127.9.8.7"):
    with socket.socket(family) as server:
        server.bind((address, 0))
        server.listen()
        peer = threading.Thread(target=lambda: server.accept()[0].sendall(b"hello"))
        peer.start()
        with socket.create_connection(server.getsockname()[:2], 30) as client:
            print(address, client.recv(5).decode())
        peer.join()
print(*[line.split(":")[0].strip() for line in open("/proc/net/dev") if ":" in line])
for address in "192.0.2.1", "10.0.0.1", "169.254.169.254", "2001:db8::1", "fe80::1":
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as client:
        client.setblocking(False)  # an answer that does not come at once would be EINPROGRESS
        print(address, errno.errorcode[client.connect_ex((address, 80))])
with socket.socket() as client:
    print("host", errno.errorcode[client.connect_ex(("127.0.0.1", int(sys.argv[1])))])
try:
    socket.getaddrinfo("example.test", 80)
except socket.gaierror:
    print("no names")
print(socket.gethostbyname("localhost"), socket.gethostbyname(socket.gethostname()))
"""
with canary_listener() as (address, hits):
    run = pinfold("run", "@host", "/usr/bin/python3", "-c", PROGRAM, address[1])
is_((run.status, run.code), ("exited", 0), "the program ends well", run)
is_(run.out.decode().splitlines(), [
    "127.0.0.1 hello", "::1 hello", "127.9.8.7 hello", "lo",
    "192.0.2.1 ENETUNREACH", "10.0.0.1 ENETUNREACH", "169.254.169.254 ENETUNREACH",
    "2001:db8::1 ENETUNREACH", "fe80::1 EINVAL", "host ECONNREFUSED", "no names", "127.0.0.1 127.0.0.1"],
    "loopback works, nothing else is there, the host's listener is another", run)
is_(hits, [], "the host's listener was not reached")
done()
