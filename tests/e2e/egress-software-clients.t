#!/usr/bin/python3
"""The same address by curl, python, node, java, openssl and a static program: all get through without being told of anything, to the
servers that are allowed and to no other. The servers' own logs say so. See T64 and T65."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet
from pf import *
from egress_software import *
from software import absent, place_of

# Two names that nginx serves at one address, one at another, and one that no rule names beside each.
NAMES = {"one.example": ["93.184.216.10"], "evil.example": ["93.184.216.10"], "a.files.example": ["93.184.216.11"],
         "six.example": ["2606:2800:220:1::12"], "secret.example": ["93.184.216.11"]}
RULES = ["one.example:443", "one.example:80", "*.files.example:443", "six.example:443"]
FETCH = r'''
import ssl, sys, urllib.request
context = ssl.create_default_context(cafile="ca.pem")
for url in sys.argv[1:]:
    try: print(urllib.request.urlopen(url, context=context, timeout=20).read().decode().strip())
    except OSError as e: print("failed")
'''
RAW_TLS = r'''
import socket, ssl, sys
context = ssl.create_default_context(cafile="ca.pem")
for name in sys.argv[1:]:
    try:
        with context.wrap_socket(socket.create_connection((name, 443), 20), server_hostname=name) as s:
            s.sendall(f"GET / HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n".encode())
            print(b"".join(iter(lambda: s.recv(4096), b"")).decode().split()[-1])
    except OSError as e: print("failed")
'''
NODE = r'''
(async () => {
	for (const url of process.argv.slice(2))
		try { console.log((await (await fetch(url)).text()).trim()); } catch (e) { console.log("failed"); }
})();
'''
JAVA = r'''
import java.io.FileInputStream;
import java.net.URI;
import java.net.http.*;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import javax.net.ssl.*;

class Fetch {
	public static void main(String[] args) throws Exception {
		KeyStore keys = KeyStore.getInstance(KeyStore.getDefaultType());
		keys.load(null, null);
		keys.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(new FileInputStream("ca.pem")));
		TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
		trust.init(keys);
		SSLContext context = SSLContext.getInstance("TLS");
		context.init(null, trust.getTrustManagers(), null);
		for (String url : args) {
			HttpClient client = HttpClient.newBuilder().sslContext(context).version(HttpClient.Version.valueOf(System.getProperty("http", "HTTP_2"))).build();
			try {
				System.out.println(client.send(HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString()).body().trim());
			} catch (java.io.IOException e) {
				System.out.println("failed");
			}
		}
	}
}
'''
STATIC = r'''
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
		char text[4096];
		ssize_t len = 0, n;
		if (getaddrinfo(argv[i], "80", &hints, &found)) {
			puts("failed");
			continue;
		}
		int s = socket(found->ai_family, SOCK_STREAM, 0);
		connect(s, found->ai_addr, found->ai_addrlen);
		dprintf(s, "GET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", argv[i]);
		while ((n = read(s, text + len, sizeof(text) - 1 - len)) > 0)
			len += n;
		text[len] = 0;
		char *body = strstr(text, "\r\n\r\n");
		printf("%s", body ? body + 4 : "failed\n");
		close(s);
	}
}
'''
URLS = "https://one.example/ http://one.example/ https://b.a.files.example/ https://six.example/ https://evil.example/ https://secret.example/ http://a.files.example/"
WANT = ["one", "one", "files", "six", "failed", "failed", "failed"]
CURL = 'for u in "$@"; do curl -sS --cacert ca.pem $u 2>/dev/null || echo failed; done'


def static_program():
    """Built with musl: its own resolver, no nsswitch, no library of the image's."""
    folder = tmpdir("root")
    source, program = os.path.join(folder, "get.c"), os.path.join(folder, "get")
    with open(source, "w", encoding="ascii") as file:
        file.write(STATIC)
    subprocess.run(["musl-gcc", "-static", "-O1", "-o", program, source], check=True)
    with open(program, "rb") as file:
        return file.read()


with Internet() as net:
    NAMES["b.a.files.example"] = NAMES["a.files.example"]
    names = dnsmasq(net, NAMES)
    web = nginx(net, [vhost(net, "93.184.216.10", ["one.example"], "one"), vhost(net, "93.184.216.10", ["evil.example"], "evil"),
                      vhost(net, "93.184.216.11", ["*.files.example", "*.a.files.example"], "files"), vhost(net, "93.184.216.11", ["secret.example"], "secret"),
                      vhost(net, "2606:2800:220:1::12", ["six.example"], "six", plain=False)])
    code, out = on_host(net, "sh", "-c", f"set -- {URLS}; {CURL.replace('ca.pem', net.authority.ca)}")
    is_(out.split(), ["one", "one", "files", "six", "evil", "secret", "files"], "the control: the host reaches all of them by name")
    is_(names.asked() >= {"evil.example", "secret.example"}, True, "and asks its name server, whose log has them")

    NODE_FLAGS = ("--env", "NODE_EXTRA_CA_CERTS=/scratch/ca.pem")
    CLIENTS = [
        ("curl", "@host", f"set -- {URLS}; {CURL}", {}, (), WANT),
        ("python urllib", "@host", f"python3 fetch.py {URLS}", {"fetch.py": FETCH}, (), WANT),
        ("python ssl", "@host", "python3 tls.py one.example b.a.files.example six.example evil.example secret.example", {"tls.py": RAW_TLS}, (),
         ["one", "files", "six", "failed", "failed"]),
        ("node fetch", ("node",), f"node fetch.js {URLS}", {"fetch.js": NODE}, NODE_FLAGS, WANT),
        # By itself it asks for HTTP/2 by Upgrade where there is no TLS, which is refused on 80: pinfold-egress(7).
        ("java HttpClient", ("java", "javac"), f"java -Xshare:auto -XX:TieredStopAtLevel=1 Fetch.java {URLS}", {"Fetch.java": JAVA}, ("--memory", "1G"),
         ["one", "failed", *WANT[2:]]),
        ("java HttpClient, of HTTP/1.1", ("java", "javac"), f"java -Dhttp=HTTP_1_1 -XX:TieredStopAtLevel=1 Fetch.java {URLS}", {"Fetch.java": JAVA},
         ("--memory", "1G"), WANT),
        ("a static program with musl's resolver", "@host", "./get one.example evil.example secret.example", {"get": static_program()}, (),
         ["one", "failed", "failed"]),
        ("openssl s_client", "@host", "for n in one.example b.a.files.example evil.example secret.example; do openssl s_client -connect $n:443 -servername $n -CAfile ca.pem "
         "-verify_return_error -verify_hostname $n </dev/null 2>/dev/null | grep -o 'Verify return code: 0' || echo failed; done", {}, (),
         ["Verify return code: 0"] * 2 + ["failed"] * 2),
    ]
    for client, image, script, files, flags, want in CLIENTS:
        if isinstance(image, tuple):
            image, needed = place_of(*image), image
            if image is None:
                skip(absent(*needed), client)
                continue
        names.clear()
        web.clear()
        run = inside(net, RULES, image, script, files, flags)
        is_((run.status, run.code, run.out.decode().splitlines()), ("exited", 0, want), f"{client}: what is allowed, and nothing else", run)
        ok(names.asked() <= {"one.example", "b.a.files.example", "six.example"}, f"{client}: no other name was asked of the name server", names.queries())
        ok(web.hosts() <= {"one.example", "b.a.files.example", "six.example"}, f"{client}: no other server was spoken to", web.hits())
        denied = {row["name"] for row in rows(run, transport="dns", verdict="denied")}
        ok({"evil.example", "secret.example"} <= denied, f"{client}: the denied names are listed", run)

    # An allowed address is no way to another name that the server there has: the SNI decides on 443, Host on 80.
    FRONT = ("A=$(getent hosts one.example | cut -d' ' -f1); curl -sS --max-time 20 --cacert ca.pem --connect-to evil.example:443:$A:443 --resolve evil.example:443:$A https://evil.example/ || echo cut; "
             "curl -sS --max-time 20 --resolve evil.example:80:$A http://evil.example/ || echo cut; curl -sS --max-time 20 -H 'Host: evil.example' http://one.example/ || echo cut; "
             "curl -sS --max-time 20 --cacert ca.pem -H 'Host: evil.example' https://one.example/")
    _, out = on_host(net, "sh", "-c", FRONT.replace("ca.pem", net.authority.ca))
    is_(out.split(), ["evil"] * 4, "the control: by the same address the host gets the other name, by SNI and by Host")
    web.clear()
    run = inside(net, RULES, "@host", FRONT + " 2>/dev/null")
    is_(run.out.split()[:3], [b"cut"] * 3, "another SNI, another Host by address, another Host by name are cut", run)
    is_({row["reason"].rsplit(" ", 1)[-1] for row in rows(run, name="one.example", verdict="denied")}, {"evil.example"}, "and listed with the name that was meant", run)
    is_([hit for hit in web.hits() if hit[0] != "one.example"], [], "no connection for the other name came to the server")
    is_((run.out.split()[3:], [hit[:2] for hit in web.hits()]), ([b"evil"], [("one.example", "evil.example")]),
        "not promised: what an allowed server does with a Host within its own TLS", run)

    run = inside(net, RULES, "@host", "env -i PATH=$PATH sh -c 'env | grep -ci proxy; curl -sS --cacert ca.pem https://one.example/'; env | grep -i proxy || echo none")
    is_(run.out.split(), [b"0", b"one", b"none"], "no variable has to do with it: there is none, and an empty environment changes nothing", run)
done()
