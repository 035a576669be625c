#!/usr/bin/python3
"""A server that asks for a second ClientHello gets one for the same name, or none: OpenSSL goes by the second."""
import os
import ssl
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Authority, Internet
from pf import *

# Connects to good.example: HOW FIRST SECOND, the names of the two hellos. Its first share is for a group that the server
# does not take. HOW: "asked" waits for the retry, "before" sends all in one piece, "data" the same with a record of data
# between, "cut" ends in the midst of the second, "alert" gives up as a client does that knows none of the server's groups.
CLIENT = r"""
import ctypes, socket, sys
how, first, second = sys.argv[1], *[name.encode() for name in sys.argv[2:4]]
lib = ctypes.CDLL("libssl.so.3")
for function in ("TLS_client_method", "SSL_CTX_new", "SSL_new", "BIO_new", "BIO_s_mem"):
    getattr(lib, function).restype = ctypes.c_void_p
P = ctypes.c_void_p
context = P(lib.SSL_CTX_new(P(lib.TLS_client_method())))
lib.SSL_CTX_ctrl(context, 92, ctypes.c_long(0), b"X25519:P-256")  # SSL_CTX_set1_groups_list
tls, come, go = P(lib.SSL_new(context)), P(lib.BIO_new(P(lib.BIO_s_mem()))), P(lib.BIO_new(P(lib.BIO_s_mem())))
lib.SSL_set_bio(tls, come, go)
lib.SSL_set_connect_state(tls)

def say(name, got=b""):
    lib.SSL_ctrl(tls, 55, ctypes.c_long(0), name)  # SSL_set_tlsext_host_name
    lib.BIO_write(come, got, len(got))
    done = lib.SSL_do_handshake(tls) == 1
    room = ctypes.create_string_buffer(20000)
    size = lib.BIO_read(go, room, len(room))
    return done, room.raw[:max(0, size)]

s = socket.create_connection(("good.example", 443), 20)
one = say(first)[1]
if how in ("before", "data"):
    body = bytes.fromhex("0303cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c20") + one[44:76]
    body += bytes.fromhex("130100" "000c" "002b00020304" "003300020017")
    two = say(second, b"\x16\x03\x03" + (len(body) + 4).to_bytes(2, "big") + b"\x02\0" + len(body).to_bytes(2, "big") + body)[1]
    s.sendall(one + (b"\x17\x03\x03\0\x20" + bytes(32) if how == "data" else b"") + two)
    try:
        while s.recv(65536): pass
        print("end")
    except OSError: print("reset")
    sys.exit()
s.sendall(one)
try:
    got = s.recv(65536)
    done, two = say(second, got)
    if how == "alert": two = b"\x15\x03\x03\0\x02\x02\x28"
    s.sendall(two[:100] if how == "cut" else two)
    if how in ("cut", "alert"): s.shutdown(socket.SHUT_WR)
    while not done:
        got = s.recv(65536)
        if not got: break
        done, more = say(second, got)
        s.sendall(more)
    print("done" if done else "end")
except OSError: print("reset")
"""
with Internet() as net:
    net.dns.names["good.example"] = ["93.184.216.10"]
    net.authority = Authority(tmpdir("root"))
    said = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*net.authority.issue(["good.example", "evil.example"]))
    context.set_ecdh_curve("prime256v1")
    context.sni_callback = lambda connection, name, its: said.append(name)

    def greet(connection, _):
        connection.sendall(b"hello")
        connection.recv(1)
    net.listen("93.184.216.10", 443, greet, lambda c: context.wrap_socket(c, server_side=True))

    def inside(rule, *words):
        said.clear()
        return net.pinfold("run", "--allow", rule, "@host", "/usr/bin/python3", "-c", CLIENT, *words)

    def denied(run):
        return [row["reason"] for row in run.result["egress"] if row["verdict"] == "denied"]

    run = inside("tcp:good.example:443", "asked", "good.example", "evil.example")
    is_((run.out, said), (b"done\n", ["good.example", "evil.example"]), "the control: where nobody looks the server serves the second name", run)
    run = inside("good.example:443", "asked", "good.example", "good.example")
    is_((run.out, said, denied(run)), (b"done\n", ["good.example"] * 2, []), "a second hello for the same name gets through", run)
    is_([(row["verdict"], row["count"]) for row in run.result["egress"]], [("allowed", 1)], "in the same row", run)
    OTHER = ["the server name is another: evil.example"]
    run = inside("good.example:443", "asked", "good.example", "evil.example")
    is_((run.out, said, denied(run)), (b"reset\n", ["good.example"], OTHER), "one for another name is cut and listed, and never sent", run)
    run = inside("tcp:good.example:443", "before", "good.example", "evil.example")
    is_(said, ["good.example", "evil.example"], "the control: the server takes one that came before it was asked for", run)
    for how, what in (("before", "behind the first in one piece"), ("data", "behind data that the server passes over")):
        run = inside("good.example:443", how, "good.example", "evil.example")
        is_((run.out, said, denied(run)), (b"reset\n", ["good.example"], OTHER), f"another name {what} is cut, listed, and never sent", run)
    run = inside("good.example:443", "cut", "good.example", "good.example")
    is_((run.out, denied(run)), (b"reset\n", ["the ClientHello is malformed"]), "a second hello that ends in its midst is cut", run)
    run = inside("good.example:443", "alert", "good.example", "good.example")
    is_(denied(run), [], "who gives up instead of saying a second one is not accused", run)
done()
