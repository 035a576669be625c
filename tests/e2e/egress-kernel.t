#!/usr/bin/python3
"""What the kernel holds for the broker of connections that somebody does not read is bounded too."""
import os
import re
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet, own
from host import init_of
from pf import *

COUNT, MUCH = 8, 16 << 20
# Much passes at first, so that the kernel's buffers grow to what they may; then one of the two sides reads no more. It
# is told when nothing has moved for two seconds.
CLIENT = """
import select, socket, sys
port = int(sys.argv[1])
all = [socket.create_connection(("hold.example", port)) for _ in range(%d)]
for s in all: s.setblocking(False)
left = {s: %d for s in all}
while port == 9001 and left:
    for s in select.select(list(left), [], [])[0]:
        left[s] -= len(s.recv(1 << 20))
        if left[s] <= 0: del left[s]
while port == 9000 and (ready := select.select([], all, [], 2)[1]):
    for s in ready:
        try:
            while True: s.send(bytes(1 << 16))
        except BlockingIOError: pass
print("stuck", flush=True)
sys.stdin.read()
""" % (COUNT, MUCH)
over = threading.Event()


def swallow(connection, _):
    left = MUCH
    while left > 0:
        left -= len(connection.recv(1 << 20))
    over.wait(120)


still = []


def pour(connection, _):
    connection.settimeout(2)
    try:
        while True:
            connection.send(bytes(1 << 16))
    except TimeoutError:
        still.append(1)
    over.wait(120)


def kernel_kb(pid, which, *filters):
    """Bytes in the receive queues (r) or send queues (w) of the sockets in a process's network namespace, in KiB."""
    told = subprocess.run(["nsenter", "-t", str(pid), "-n", "ss", "-tmHn", *filters], stdout=subprocess.PIPE, check=True).stdout.decode()
    return sum(int(size) for size in re.findall(rf"[(,]{which}(\d+)", told)) // 1024


with Internet() as net:
    net.dns.names["hold.example"] = ["93.184.216.60"]
    net.listen("93.184.216.60", 9000, swallow)
    net.listen("93.184.216.60", 9001, pour)

    def stuck(port):
        return net.start("run", "--allow", "hold.example:9000-9001", "--id", own("kernel"), "--stdin", "-", "@host", "/usr/bin/python3", "-c", CLIENT, str(port), stdin=subprocess.PIPE)

    with stuck(9000) as running:
        is_(running.line(), "stuck", "a server that does not read: the program is blocked")
        inside = kernel_kb(init_of(own("kernel")), "r", "sport", "=", ":9000")
        within(inside, 1, COUNT * 640, "what the broker has not taken from it (KiB)")
        within(kernel_kb(net.home.pid, "w", "dport", "=", ":9000"), 1, COUNT * 1024, "and what it could not get rid of")
        running.wait(60, b"")
    with stuck(9001) as running:
        is_(running.line(), "stuck", "a program that does not read")
        wait_for(lambda: len(still) == COUNT, 60, "the server to be blocked")
        within(kernel_kb(init_of(own("kernel")), "w", "sport", "=", ":9001"), 1, COUNT * 640, "what the program does not take (KiB)")
        over.set()
        running.wait(60, b"")
done()
