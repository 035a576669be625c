#!/usr/bin/python3
"""apt with a package mirror, by HTTP and by HTTPS: update and download; requests in a pipeline on one connection, each of them judged."""
import hashlib
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet
from pf import *
from egress_software import *

COUNT = 12


def run_here(*argv, cwd=None):
    return subprocess.run(argv, cwd=cwd, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def build(folder, name, content):
    """NAME_1.0_all.deb in folder."""
    tree = tmpdir("root")
    os.makedirs(os.path.join(tree, "DEBIAN"))
    os.makedirs(os.path.join(tree, "usr/share", name))
    with open(os.path.join(tree, "DEBIAN/control"), "w", encoding="ascii") as file:
        file.write(f"Package: {name}\nVersion: 1.0\nArchitecture: all\nMaintainer: A <a@deb.example>\nDescription: {name}\n")
    with open(os.path.join(tree, "usr/share", name, "file"), "wb") as file:
        file.write(content)
    run_here("dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, os.path.join(folder, f"{name}_1.0_all.deb"))


def mirror():
    """A flat repository: packages of some kilobytes, one of megabytes, Packages and Release."""
    folder = tmpdir("root")
    place = os.path.join(folder, "debian")
    os.mkdir(place)
    for number in range(COUNT):
        build(place, f"small{number}", os.urandom(3000 + number))
    build(place, "large", os.urandom(3 << 20))
    with open(os.path.join(place, "Packages"), "wb") as file:
        file.write(run_here("apt-ftparchive", "packages", ".", cwd=place))
    with open(os.path.join(place, "Release"), "wb") as file:
        file.write(run_here("apt-ftparchive", "release", ".", cwd=place))
    return folder


# apt in the scratch: nothing of the machine's own settings, lists or keys.
SETUP = """mkdir -p apt/etc/apt.conf.d apt/etc/preferences.d apt/lists/partial apt/archives/partial apt/log; : > apt/status
cat > apt/conf <<'END'
Dir::Etc "$HERE/apt/etc"; Dir::Etc::SourceList "$HERE/apt/sources"; Dir::Etc::SourceParts "-"; Dir::State::Lists "$HERE/apt/lists"; Dir::State::Status "$HERE/apt/status";
Dir::State "$HERE/apt"; Dir::Cache "$HERE/apt"; Dir::Cache::Archives "$HERE/apt/archives"; Dir::Log "$HERE/apt/log"; Acquire::Languages "none"; Acquire::Retries "0";
Acquire::https::CAInfo "$CA"; APT::Sandbox::User "root"; Acquire::http::Timeout "20"; Acquire::https::Timeout "20";
END
sed -i "s|[$]HERE|$PWD|g; s|[$]CA|$CA|" apt/conf; export APT_CONFIG=$PWD/apt/conf
"""


def script(url, *packages):
    return (f"{SETUP} echo 'deb [trusted=yes] {url} ./' > apt/sources\n(apt-get -qq -o APT::Update::Error-Mode=any update && apt-get -qq download {' '.join(packages)}) >log 2>&1 || echo failed\n"
            "ls | grep -c deb$ || true; cat *.deb 2>/dev/null | sha256sum")


with Internet() as net:
    folder = mirror()
    names = dnsmasq(net, {"deb.example": ["93.184.216.60"], "evil.example": ["93.184.216.60"], "moved.example": ["93.184.216.61"]})
    web = nginx(net, [vhost(net, "93.184.216.60", ["deb.example"], None, more=f"root {folder};"), vhost(net, "93.184.216.60", ["evil.example"], None, more=f"root {folder};"),
                      vhost(net, "93.184.216.61", ["moved.example"], None, more="return 302 $scheme://evil.example$request_uri;")])
    PACKAGES = [*(f"small{number}" for number in range(COUNT)), "large"]
    digest = hashlib.sha256()
    for name in sorted(os.listdir(os.path.join(folder, "debian"))):
        if name.endswith(".deb"):
            with open(os.path.join(folder, "debian", name), "rb") as file:
                digest.update(file.read())
    WHOLE = [str(len(PACKAGES)), digest.hexdigest(), "-"]
    NONE = ["failed", "0", hashlib.sha256().hexdigest(), "-"]
    CA = "CA=$PWD/ca.pem\n"

    for url in ("http://evil.example/debian", "http://moved.example/debian", "https://deb.example/debian"):
        code, out = on_host(net, "sh", "-c", f"cd {tmpdir('root')}; CA={net.authority.ca}\n" + script(url, *PACKAGES))
        is_(out.split(), WHOLE, f"the control: the host downloads from {url}")
    names.clear()
    web.clear()
    run = inside(net, ["deb.example:80"], "@host", CA + script("http://deb.example/debian", *PACKAGES))
    is_(run.out.decode().split(), WHOLE, "apt-get update and download by HTTP", run)
    row = rows(run, name="deb.example", transport="tcp")[0]
    is_((row["verdict"], row["rule"], len(run.result["egress"])), ("allowed", "deb.example:80", 1), "all of it is one row", run)
    ok(row["count"] < len(web.hits()), "more requests than connections", (row, web.hits()))
    run = inside(net, ["deb.example:443"], "@host", CA + script("https://deb.example/debian", *PACKAGES))
    is_(run.out.decode().split(), WHOLE, "by HTTPS", run)
    run = inside(net, ["deb.example:80", "deb.example:443"], "@host", CA + script("http://evil.example/debian", *PACKAGES))
    is_(run.out.decode().split(), NONE, "nothing comes from a host that no rule names", run)
    run = inside(net, ["moved.example:80"], "@host", CA + script("http://moved.example/debian", *PACKAGES))
    is_(run.out.decode().split(), NONE, "nor by way of a host that sends it there", run)
    is_({(row["name"], row["verdict"]) for row in run.result["egress"]}, {("moved.example", "allowed"), ("evil.example", "denied")}, "both are listed", run)
    is_((names.asked(), web.hosts()), ({"deb.example", "moved.example"},) * 2, "the name server was asked, and a server spoken to, for the allowed names alone")
done()
