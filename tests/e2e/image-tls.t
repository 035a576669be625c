#!/usr/bin/python3
"""TLS is verified always: a certificate of nobody known, for another name or of another time is refused; from https nothing leads to
http; a proxy of the usual variables is used, sees where it goes and nothing of what is said there."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from registry import *
from authority import *
from pf import *
from fake_registry import *

AUTHORITY = Authority()
CA, certificate = AUTHORITY.file, AUTHORITY.certificate
LOCAL = certificate("local", "IP:127.0.0.1,DNS:localhost")


def tls(pair=LOCAL):
    server = Registry(certificate=pair)
    server.image("x", "v1", (BIG,))
    return server


def pull(server, *options, env=None, name=None):
    return Pulled(None, f"{name or server.name}/x:v1", "insecure=0", *options, env=env)


server = tls()
got = pull(server, f"ca={CA}")
ok(got.whole(), "control: a registry with a certificate that is trusted", got)
got = pull(server)
like(got.err, "certificate", "one of an authority that nobody knows is refused")
is_(len(server.log), 3, "before anything is asked for")
ok(pull(server, f"ca={CA}", name=f"localhost:{server.server_address[1]}").ok, "control: the other name in the certificate")
server = tls(certificate("other", "DNS:other.test"))
like(pull(server, f"ca={CA}").err, "certificate|does not match", "one for another name is refused")
is_(server.log, [], "before anything is asked for")
server = tls(certificate("old", "IP:127.0.0.1", "-days", "-1"))
like(pull(server, f"ca={CA}").err, "certificate", "one of yesterday is refused")
server = tls()
ok(not Pulled(server, "x:v1", "retries=0").ok, "plain http to it is no success")
is_(server.log, [], "and nothing is asked for")

# ---- from https to http ----

plain = fresh()
for status in (301, 307):
    server = tls()
    server.faults[blob_path()] = lambda h, n: h.answer(status, {"Location": f"{plain.url}{blob_path()}"}) or True
    like(pull(server, f"ca={CA}").err, "from https to http", f"a redirect ({status}) from https to http is not followed")
other = tls()
server.faults[blob_path()] = lambda h, n: h.answer(307, {"Location": f"{other.url}{blob_path()}"}) or True
got = pull(server, f"ca={CA}")
ok(got.whole(), "control: to https it is", got)
stranger = Registry(certificate=certificate("stranger", "DNS:other.test"))
stranger.blob("x", BIG[0])
server.faults[blob_path()] = lambda h, n: h.answer(307, {"Location": f"{stranger.url}{blob_path()}"}) or True
ok(not pull(server, f"ca={CA}", "retries=0").ok and not stranger.log, "where it leads to is verified as well")
server = tls()
server.every = lambda h, n: h.answer(401, {"WWW-Authenticate": f'Bearer realm="{plain.url}/token",service="x"'}) or True
like(pull(server, f"ca={CA}", f"auth={auth_file({server.name: {'auth': basic('user', 'pw')}})}").err, "from https to http",
     "a token is not asked for by http")
is_(plain.log, [], "the plain server was asked for nothing at all")
started = Registry()
started.image("x", "v1", (BIG,))
started.faults[blob_path()] = lambda h, n: h.answer(307, {"Location": f"{other.url}{blob_path()}"}) or True
other.log.clear()
ok(Pulled(started, "x:v1", f"ca={CA}").whole() and len(other.log) == 1, "from http on this machine to https it is followed")

# ---- proxies ----

SECRET = basic("user", "s3cret")
for variable in ("https_proxy", "HTTPS_PROXY", "all_proxy"):
    server = tls()
    server.every = lambda h, n: h.headers.get("Authorization") != f"Basic {SECRET}" and (
        h.answer(401, {"WWW-Authenticate": "Basic realm=x"}) or True)
    proxy = Proxy(server.server_address)
    file = auth_file({server.name: {"auth": SECRET}})
    got = pull(server, f"ca={CA}", f"auth={file}", env={variable: proxy.url})
    ok(got.whole() and proxy.log, f"{variable} is used", got)
    ok(all(request.startswith(f"CONNECT {server.name} HTTP/1.1\r\n") and "uthorization" not in request for request in proxy.log),
       "the proxy sees a name and no authorization", proxy.log)
    proxy.log.clear()
    got = pull(server, f"ca={CA}", f"auth={file}", env={variable: proxy.url, "no_proxy": "127.0.0.1"})
    ok(got.whole() and not proxy.log, "no_proxy is honoured", got)
server = tls()
proxy = Proxy(tls(certificate("middle", "DNS:other.test")).server_address)
got = pull(server, f"ca={CA}", env={"https_proxy": proxy.url})
ok(not got.ok and proxy.log, "a proxy that leads elsewhere is found out", got)
done()
