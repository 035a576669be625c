#!/usr/bin/python3
"""What authorizes goes to the registry that it is for and to nobody else: not along a redirect, not to a proxy, not in plain text off
this machine; credential helpers are not run, and the urls of foreign layers not followed."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from registry import *
from pf import *
from fake_registry import *

# ---- authorization ----

SECRET = basic("user", "s3cret:with colon")


def login(server, token="T0k.en-1", refuse=False, realm=None, scope="repository:x:pull,push"):
    """Bearer: a token for the credentials."""
    def every(handler, count):
        if handler.headers.get("Authorization") == f"Bearer {token}" and not refuse:
            return False
        handler.answer(401, {"WWW-Authenticate": f'Bearer realm="{realm or f"{server.url}/token"}",service="the, \\"service\\"",'
                                                 f'scope="{scope}"'})
        return True

    def give(handler, count):
        if handler.headers.get("Authorization") == f"Basic {SECRET}":
            handler.answer(200, {}, json.dumps({"token": token}).encode())
        else:
            handler.answer(401)
        return True
    server.every, server.faults["/token"] = every, give
    return server


server = login(fresh())
right = auth_file({server.name: {"auth": SECRET}})
pull = Pulled(server, "x:v1", f"auth={right}")
ok(pull.whole(), "a token for credentials", pull)
is_(len(server.asked("/token")), 1, "one for all requests")
like(next(path for path, _ in server.log if path.startswith("/token")),
     r"(?i)^/token\?service=the(%2C|,)(%20|\+)%22service%22&scope=repository(%3A|:)x(%3A|:)pull$",
     "its service, and the scope that a pull needs, not the one of the challenge")
ok(all(headers.get("Authorization") != f"Basic {SECRET}" for path, headers in server.log if path.startswith("/v2/")),
   "the registry itself does not see the password", server.log)
server = login(fresh())
like(Pulled(server, "x:v1").err, "no file with credentials was given.*credentials are needed", "no credentials: the message says so")
like(Pulled(server, "x:v1", f"auth={auth_file({'other.test': {'auth': SECRET}})}").err, "none for this registry",
     "none for this registry: the message says so")
like(Pulled(server, "x:v1", f"auth={auth_file({server.name: {'auth': basic('user', 'wrong')}})}").err, "the credentials are refused",
     "wrong credentials: the message says so")
for names, entry in (([f"{server.url}/v2/".replace("http", "https")], {"auth": SECRET}), ([server.url], {"auth": SECRET}),
                     ([f"{server.name}/x", server.name], {"auth": SECRET}),
                     ([server.name], {"username": "user", "password": "s3cret:with colon"})):
    entries = {names[0]: entry, **{name: {"auth": basic("no", "no")} for name in names[1:]}}
    pull = Pulled(server, "x:v1", f"auth={auth_file(entries)}")
    ok(pull.ok, f"an entry called {names[0].replace(server.name, 'HOST')}, {sorted(entry)}", pull)
for text, what in (('{"auths": {"SERVER": {"auth": "no base64!"}}}', "not USER:PASSWORD"), ('{"auths": []}', "an object belongs there"),
                   ('{"auths": {"SERVER": {"auth": "bm9jb2xvbg=="}}}', "not USER:PASSWORD"), ("nonsense", "an object belongs here"),
                   ('{"auths": {"SERVER": {"auth": 7}}}', "a text belongs there"), ("[" * 1000, "nested deeper")):
    path = auth_file({})
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace("SERVER", server.name))
    like(Pulled(server, "x:v1", f"auth={path}").err, what, f"a file with {text[:40]} is refused")
like(Pulled(server, "x:v1", "auth=/nonexistent/config.json").err, "open /nonexistent", "and one that is missing")

# IM11: nothing that the file names is run
folder = tmpdir()
mark, helper = os.path.join(folder, "mark"), os.path.join(folder, "docker-credential-evil")
with open(helper, "w", encoding="utf-8") as file:
    file.write(f"#!/bin/sh\necho ran >> {mark}\necho '{{\"Username\":\"user\",\"Secret\":\"s\"}}'\n")
os.chmod(helper, 0o755)
is_((os.system(f"PATH={folder}:$PATH docker-credential-evil get >/dev/null"), os.path.exists(mark)), (0, True), "control: a credential helper that runs")
os.unlink(mark)
path = auth_file({server.name: {}}, credsStore="evil", credHelpers={server.name: "evil"})
pull = Pulled(server, "x:v1", f"auth={path}", env={"PATH": f"{folder}:{os.environ['PATH']}"})
like(pull.err, "credential helper, and those are not run", "credential helpers: the message says that they are not run")
ok(not os.path.exists(mark), "and they are not")

tokens = Registry()
server = login(fresh(), realm=f"{tokens.url}/auth/token")
tokens.faults["/auth/token"] = server.faults["/token"]
pull = Pulled(server, "x:v1", f"auth={auth_file({server.name: {'auth': SECRET}})}")
ok(pull.whole(), "a token server that is another one than the registry", pull)
is_((len(tokens.log), server.asked("/token")), (1, []), "is asked once")
is_(tokens.log[0][1].get("Authorization"), f"Basic {SECRET}", "with the credentials")
ok(all("Basic" not in headers.get("Authorization", "") for _, headers in server.log), "which the registry does not see", server.log)
pull = Pulled(server, "x:v1", f"auth={auth_file({tokens.name: {'auth': SECRET}})}")
like(pull.err, "no credentials in .*none for this registry", "and those of the token server's own name are not the registry's")
tokens.faults["/auth/token"] = lambda h, n: h.answer(200, {}, json.dumps({"access_token": "T0k.en-1"}).encode()) or True
pull = Pulled(server, "x:v1")
ok(pull.whole() and "Authorization" not in tokens.log[-1][1], "a token for nobody in particular, called access_token", pull)
tokens.faults["/auth/token"] = lambda h, n: n < 5 and (h.answer(503) or True) or server.faults["/token"](h, n)
pull = Pulled(server, "x:v1", f"auth={auth_file({server.name: {'auth': SECRET}})}")
ok(pull.whole() and pull.retries(), "a token server that is busy at first", pull)

server = login(fresh(), refuse=True)
pull = Pulled(server, "x:v1", f"auth={auth_file({server.name: {'auth': SECRET}})}")
like(pull.err, r"still refused \(401\)", "401 again and again, token or not, ends")
within(len(server.log), 3, 6, "after few requests")
server = fresh()
server.every = lambda h, n: h.answer(401, {"WWW-Authenticate": "Basic realm=x"}) or True
pull = Pulled(server, "x:v1", f"auth={auth_file({server.name: {'auth': SECRET}})}")
like(pull.err, r"still refused \(401\)", "the same with basic authentication")
within(len(server.log), 2, 4, "after few requests")
for challenge in ({}, {"WWW-Authenticate": "Negotiate"}, {"WWW-Authenticate": "Bearer"}, {"WWW-Authenticate": "Bearer realm"},
                  {"WWW-Authenticate": 'Bearer realm="http://'}, {"WWW-Authenticate": "Bearer service=x"},
                  {"WWW-Authenticate": "Bearer " + "x" * 30000}):
    server = fresh()
    server.every = lambda h, n: h.answer(401, challenge) or True
    pull = Pulled(server, "x:v1", f"auth={auth_file({server.name: {'auth': SECRET}})}")
    ok(pull.run.code == 1 and len(server.log) == 1, f"a challenge that is none: {str(challenge)[:50]}", pull)

server = fresh()
server.every = lambda h, n: h.headers.get("Authorization") != f"Basic {SECRET}" and (h.answer(401, {"WWW-Authenticate": "Basic realm=x"}) or True)
pull = Pulled(server, "x:v1", f"auth={auth_file({server.name: {'auth': SECRET}})}")
ok(pull.whole(), "basic authentication", pull)
like(Pulled(server, "x:v1").err, "credentials are needed", "and without credentials the message says so")

server = login(fresh())
expired = []


def expire(handler, count):
    """The token is good for the manifest alone."""
    if not expired:
        expired.append(1)
        login(server, "T2")
        return server.every(handler, count)
    return server.every(handler, count)


server.faults[blob_path()] = expire
pull = Pulled(server, "x:v1", f"auth={auth_file({server.name: {'auth': SECRET}})}")
ok(pull.whole() and len(server.asked("/token")) == 2, "a token that expires between two blobs is renewed", pull)

for answer, what in ((b'{"token": "a\\r\\nX-Evil: 1"}', "no token"), (b'{"token": ""}', "no token"), (b"{}", "no token"),
                     (b'{"token": 7}', "a text belongs"), (b"<html>", "an object belongs"), (b'{"token":"' + b"x" * 70000 + b'"}', "larger than")):
    server = login(fresh())
    server.faults["/token"] = lambda h, n: h.answer(200, {}, answer) or True
    pull = Pulled(server, "x:v1", f"auth={auth_file({server.name: {'auth': SECRET}})}")
    like(pull.err, what, f"a token that is none: {answer[:30]}")
    ok(not any("X-Evil" in headers for _, headers in server.log), "goes into no header")
for realm in ("http://192.0.2.1/token", "ftp://127.0.0.1/token", "file:///etc/passwd", "http://user:pw@127.0.0.1/token", "nonsense\x01"):
    server = login(fresh(), realm=realm)
    pull = Pulled(server, "x:v1", f"auth={auth_file({server.name: {'auth': SECRET}})}")
    ok(not pull.ok and len(server.log) == 1 and not pull.retries(), f"a token from {realm!r} is not asked for", pull)

# ---- redirects ----


def redirecting(location, status=307, **more):
    """Registry, other server, and a pull whose blob is at another place."""
    server, other = login(fresh()), Registry(**more)
    other.blob("x", BIG[0])
    server.faults[blob_path()] = lambda h, n: server.every(h, n) or h.answer(status, {"Location": location(server, other)}) or True
    server.documents["/elsewhere"] = ("application/octet-stream", BIG[0])
    return server, other, Pulled(server, "x:v1", f"auth={auth_file({server.name: {'auth': SECRET}})}")


for status in (301, 302, 303, 307, 308):
    server, other, pull = redirecting(lambda s, o: f"{o.url}{blob_path()}?sig=a%2Fb&x=1", status)
    ok(pull.whole(), f"a redirect ({status}) to another host", pull)
is_(len(other.log), 1, "which is asked once")
ok(all("Authorization" not in headers for _, headers in other.log), "and without the registry's authorization", other.log)
like(other.log[0][0], r"\?sig=a%2Fb&x=1$", "its address is left as it is")
server, other, pull = redirecting(lambda s, o: "/elsewhere")
ok(pull.whole(), "a redirect within the registry", pull)
is_([headers.get("Authorization") for headers in server.asked("/elsewhere")], ["Bearer T0k.en-1"],
   "control: the authorization does go there")
port = server.name.split(":")[1]
for name, location in (("the same address by another name", lambda s, o: f"http://localhost:{s.name.split(':')[1]}/elsewhere"),
                       ("another scheme-relative host", lambda s, o: f"//{o.name}{blob_path()}")):
    server, other, pull = redirecting(location)
    ok(pull.whole(), f"a redirect to {name}", pull)
    ok(all("Authorization" not in headers for headers in server.asked("/elsewhere") + other.asked(blob_path())),
       "without authorization", server.log)
server, other, pull = redirecting(lambda s, o: f"{o.url}/back")
other.faults["/back"] = lambda h, n: h.answer(307, {"Location": f"{server.url}/elsewhere"}) or True
pull = Pulled(server, "x:v1", f"auth={auth_file({server.name: {'auth': SECRET}})}")
ok(pull.whole(), "to another host and back", pull)
server, other, pull = redirecting(lambda s, o: f"{o.url}/locked")
other.faults["/locked"] = lambda h, n: h.answer(401, {"WWW-Authenticate": f'Bearer realm="{other.url}/token"'}) or True
pull = Pulled(server, "x:v1", f"auth={auth_file({server.name: {'auth': SECRET}})}")
like(pull.err, "wants an authorization", "another host that wants an authorization gets none")
is_(other.asked("/token"), [], "and no token is asked for there")

server, other, pull = redirecting(lambda s, o: blob_path())
like(pull.err, "more than 5 redirects", "a redirect to itself ends")
for location in ("http://192.0.2.1/x", "http://host.test/x", "http://127.0.0.1.host.test/x", "file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://127.0.0.1/x",
                 "http://user:pw@127.0.0.1/x", "http://[::2]/x", "http://2130706433.test/x", "", "http://", "x" * 20000):
    server, other, pull = redirecting(lambda s, o: location)
    ok(" a redirect" in pull.err and len(server.asked(blob_path())) == 1 and not pull.retries(),
       f"a redirect to {location[:40]!r} is not followed", pull)
server, pull = broken(lambda h, n: h.answer(307) or True)
like(pull.err, "a redirect to nowhere", "a redirect to nowhere")
server, other, pull = redirecting(lambda s, o: "https://" + "x" * 20000)
like(pull.err, "a redirect to an address that is too long", "a redirect to more than an address may be")


def cut_there(handler, count):
    if count == 0:
        handler.answer(200, {}, BIG[0][:HALF], SIZE)
    return count == 0


server, other = fresh(), Registry()
other.blob("x", BIG[0])
other.faults[blob_path()] = cut_there
server.faults[blob_path()] = lambda h, n: h.answer(307, {"Location": f"{other.url}{blob_path()}?once={n}"}) or True
pull = Pulled(server, "x:v1")
ok(pull.whole(), "a cut after a redirect", pull)
is_([path.split("?")[1] for path, _ in other.log], ["once=0", "once=1"], "goes on by way of the registry again")

# ---- foreign layers, plain http ----

other = Registry()
other.put("/layer", "application/octet-stream", BIG[0])
server = fresh(kind=FOREIGN, urls=[f"{other.url}/layer"])
ok(Pulled(server, "x:v1").whole(), "control: a foreign layer that the registry has")
del server.documents[blob_path()]
pull = Pulled(server, "x:v1")
like(pull.err, "does not have this foreign layer .*not followed", "one that it does not have")
is_(other.log, [], "its urls are not followed")

for name in ("registry.test/x:v1", "192.0.2.1/x:v1", "127.0.0.1.registry.test:80/x:v1", "[::2]:80/x:v1"):
    like(Pulled(None, name).err, "plain http is for registries on this machine", f"no plain http to {name}")
for name in ("x:v1", "library/x"):
    like(Pulled(None, name).err, "names no registry.*HOST", f"{name} cannot be pulled, and the message says how")
server, trap = fresh(), Registry()
proxies = {name: trap.url for name in ("http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")}
ok(Pulled(server, "x:v1", env=proxies).whole() and not trap.log, "plain http passes by every proxy", trap.log)
pull = pinfold(f"{server.name}/x:v1", tmpdir(), program=PULL)
like(pull.err.decode(), "needs --insecure-registry", "without the caller's word, plain http is not spoken")
unlike(pull.out.decode(), "retry", "and that is said at once")
is_(len([path for path, _ in server.log if path.startswith("/v2/")]), 3, "nor tried")
closed = Registry()
closed.shutdown()
closed.server_close()
pull = Pulled(closed, "x:v1", "retries=9")
ok(not pull.ok and not pull.retries(), "a registry that never was there is not tried again", pull)
done()
