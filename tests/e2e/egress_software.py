"""Real servers in the test's own world, and real clients inside, for egress by name.

    with Internet() as net:
        names = dnsmasq(net, {"files.example": ["93.184.216.11"]})   # from here on the host's name server
        web = nginx(net, [vhost(net, "93.184.216.11", ["files.example"], "files")])
        run = inside(net, ["files.example:443"], "@host", "curl -sS --cacert ca.pem https://files.example/")
        names.asked()

What the servers log is what tells a denied name from one that nobody tried.
"""
import os
import re
import signal
import socket
import subprocess

import pf
import software

__all__ = ["dnsmasq", "nginx", "vhost", "inside", "on_host", "authority", "rows", "verdicts"]


def _environment(more=None):
    return {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": "/dev/null", **(more or {})}


def on_host(net, *command, env=None):
    """A command in the host's own place, not confined: (code, stdout). The control of a probe."""
    argv = ["nsenter", "-t", str(net.home.pid), "-n", "-m", "--wd=/", *command]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=_environment(env),
                          timeout=60, check=False)
    return done.returncode, done.stdout.decode("utf-8", "replace")


def _answers(net, address, port):
    """Whether something listens there, as the host sees it."""
    with net.home.entered():
        probe = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    with probe:
        probe.settimeout(1)
        return probe.connect_ex((address, port)) == 0


def _serve(net, argv, address, port, log):
    """Start a server in the world; it is there when this returns, and is ended with the test, however that ends."""
    process = subprocess.Popen(["nsenter", "-t", str(net.world.pid), "-n", "setpriv", "--pdeathsig", "TERM", "--", *argv],
                               stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=_environment())

    def end():
        process.send_signal(signal.SIGTERM)
        process.wait()
    net.stack.callback(end)

    def there():
        if process.poll() is not None:
            raise RuntimeError(f"{argv[0]} ended with {process.returncode}")
        return _answers(net, address, port)
    pf.wait_for(there, what=argv[0])


def authority(net):
    """The world's certificate authority."""
    if net.authority is None:
        from egress_net import Authority
        net.authority = Authority(pf.tmpdir("root"))
    return net.authority


class _Log:
    def __init__(self, path):
        self.path = path

    def text(self):
        with open(self.path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def clear(self):
        os.truncate(self.path, 0)


class _Queries(_Log):
    def queries(self):
        """[(type, name as it was asked, who asked)]"""
        return re.findall(r"query\[([^\]]+)\] (\S+) from (\S+)", self.text())

    def asked(self):
        """The names, in lower case."""
        return {name.lower() for _, name, _ in self.queries()}


def dnsmasq(net, names, address="93.184.216.53", *options, port=53):
    """dnsmasq with the names, {name: [address, ...]}; for port 53 it becomes the name server of the host."""
    folder = pf.tmpdir("root")
    hosts, log = os.path.join(folder, "hosts"), os.path.join(folder, "log")
    with open(hosts, "w", encoding="ascii") as file:
        file.writelines(f"{where} {name}\n" for name, addresses in names.items() for where in addresses)
    net.address(address)
    with open(log, "ab") as output:
        _serve(net, ["dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", f"--addn-hosts={hosts}",
                     f"--listen-address={address}", "--bind-interfaces", f"--port={port}", "--pid-file", "--user=root", "--local-ttl=60",
                     "--log-queries=extra", f"--log-facility={log}", *options], address, port, output)
    if port == 53:
        net.name_servers(address)
    return _Queries(log)


def vhost(net, address, names, body, plain=True, more=""):
    """One server of nginx: TLS on 443 with a certificate for the names, HTTP on 80 unless plain is false; / answers with the body."""
    net.address(address)
    cert, key = authority(net).issue(names)
    where = f"[{address}]" if ":" in address else address
    listens = [f"listen {where}:443 ssl http2;"] + ([f"listen {where}:80;"] if plain else [])
    page = f'location / {{ return 200 "{body}\\n"; }}' if body else ""
    return (address, f"server {{ {' '.join(listens)} server_name {' '.join(names)}; ssl_certificate {cert}; ssl_certificate_key {key};\n"
            f"{page}\n{more} }}")


class _Hits(_Log):
    def hits(self):
        """[(server name of TLS or -, Host, path, status)]"""
        return [tuple(line.split(" ")) for line in self.text().splitlines()]

    def hosts(self):
        return {hit[1] for hit in self.hits()}


def nginx(net, vhosts):
    """nginx with the servers of vhost(); what it returns knows what was asked of it."""
    folder = pf.tmpdir("root")
    conf, access, errors = (os.path.join(folder, name) for name in ("conf", "access", "errors"))
    scratch = "\n".join(f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    with open(conf, "w", encoding="ascii") as file:
        file.write(f"daemon off;\nmaster_process off;\npid {folder}/pid;\nerror_log {errors};\nevents {{ }}\nhttp {{\n{scratch}\n"
                   "types { text/html html; } default_type application/octet-stream;\n"
                   'map $ssl_server_name $sni { "" -; default $ssl_server_name; }\n'
                   f"log_format told '$sni $host $uri $status';\naccess_log {access} told;\n"
                   + "\n".join(text for _, text in vhosts) + "\n}\n")
    with open(errors, "ab") as output:
        _serve(net, ["nginx", "-c", conf, "-e", errors, "-p", folder], vhosts[0][0], 443, output)
    return _Hits(access)


def inside(net, rules, image, script, files=None, flags=(), timeout=120):
    """Run of a shell script in the scratch, where ca.pem and the files are, {name: text or bytes}; all may be executed."""
    with open(authority(net).ca, "rb") as file:
        files = {"ca.pem": file.read(), **(files or {})}
    allowed = [word for rule in rules for word in ("--allow", rule)]
    return net.pinfold("run", *software.LIMITS, *allowed, "--stdin", "-", *flags, image, "/bin/sh", "-ec", "tar -xf -\n" + script,
                       stdin=software.packed(files), timeout=timeout)


def rows(run, **wanted):
    """The rows of the result's egress that have all of the wanted values."""
    return [row for row in run.result["egress"] if all(row[key] == value for key, value in wanted.items())]


def verdicts(run):
    """{(name or address, port, verdict)} of all rows but those of DNS."""
    return {(row["name"] or row["address"], row["port"], row["verdict"]) for row in run.result["egress"] if row["transport"] != "dns"}
