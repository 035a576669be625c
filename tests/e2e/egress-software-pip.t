#!/usr/bin/python3
"""pip with a package index under TLS whose files are at another host, as the public one has them: what both rules name comes, and
nothing of a third."""
import base64
import hashlib
import io
import os
import sys
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from egress_net import Internet
from pf import *
from egress_software import *

if not os.path.isdir("/usr/lib/python3/dist-packages/pip"):
    skip_all("no pip to be had: scripts/deps test")
PIP = "PIP_CONFIG_FILE=/dev/null python3 -I -c 'import sys; sys.path.append(\"/usr/lib/python3/dist-packages\"); from pip._internal.cli.main import main; sys.exit(main())'"


def wheel(name, text, requires=()):
    """A wheel (PEP 427) with one module: its bytes."""
    info = f"{name}-1.0.dist-info"
    files = {f"{name}.py": f"TEXT = {text!r}\n",
             f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n" + "".join(f"Requires-Dist: {other}\n" for other in requires),
             f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    record = "".join(f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(content.encode()).digest()).decode().rstrip('=')},{len(content)}\n"
                     for path, content in files.items())
    files[f"{info}/RECORD"] = record + f"{info}/RECORD,,\n"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return packed.getvalue()


def publish(folder, name, content, host):
    """The file below files/, a page of the simple index (PEP 503) below simple/ that says host has it."""
    file = f"{name}-1.0-py3-none-any.whl"
    os.makedirs(os.path.join(folder, "files"), exist_ok=True)
    os.makedirs(os.path.join(folder, "simple", name))
    with open(os.path.join(folder, "files", file), "wb") as out:
        out.write(content)
    with open(os.path.join(folder, "simple", name, "index.html"), "w", encoding="ascii") as out:
        out.write(f'<!DOCTYPE html><html><body><a href="https://{host}/files/{file}#sha256={hashlib.sha256(content).hexdigest()}">{file}</a></body></html>')


with Internet() as net:
    folder = tmpdir("root")
    publish(folder, "thing", wheel("thing", "a thing", ["part"]), "a.files.example")
    publish(folder, "part", wheel("part", "x" * 3000000), "b.files.example")
    publish(folder, "trap", wheel("trap", "a trap"), "evil.example")
    names = dnsmasq(net, {"packages.example": ["93.184.216.50"], "a.files.example": ["93.184.216.51"], "b.files.example": ["93.184.216.51"], "evil.example": ["93.184.216.51"]})
    web = nginx(net, [vhost(net, "93.184.216.50", ["packages.example"], None, more=f"root {folder};"),
                      vhost(net, "93.184.216.51", ["*.files.example"], None, more=f"root {folder};"),
                      vhost(net, "93.184.216.51", ["evil.example"], None, more=f"root {folder};")])
    CERT = "--cert ca.pem --disable-pip-version-check --no-cache-dir --retries 0"

    PLAIN = "http://packages.example/simple/ --trusted-host packages.example"

    def install(name, index="https://packages.example/simple/"):
        return f"{PIP} install {CERT} --index-url {index} --target here {name} >log 2>&1"

    place = tmpdir("root")
    code, out = on_host(net, "sh", "-c", f"cd {place}; " + install("trap").replace("ca.pem", net.authority.ca))
    is_((code, "evil.example" in web.hosts()), (0, True), "the control: the host installs what the third host has", out)
    names.clear()
    web.clear()

    RULES = ["packages.example:443", "*.files.example:443"]
    run = inside(net, RULES, "@host", install("thing") + "; PYTHONPATH=here python3 -c 'import thing, part; print(thing.TEXT, len(part.TEXT))'")
    is_(run.out.decode().splitlines()[-1:], ["a thing 3000000"], "pip install: a package and what it requires, from an index and two hosts of files", run)
    is_({(row["name"], row["rule"], row["verdict"]) for row in run.result["egress"]},
        {("packages.example", "packages.example:443", "allowed"), ("a.files.example", "*.files.example:443", "allowed"), ("b.files.example", "*.files.example:443", "allowed")},
        "what it used is listed by name and rule", run)
    run = inside(net, RULES, "@host", install("trap") + " || echo refused; ls here 2>/dev/null || echo none")
    is_(run.out.split(), [b"refused", b"none"], "a file that the index says is elsewhere does not come", run)
    ok(rows(run, name="evil.example", transport="dns", verdict="denied"), "and the host is listed", run)
    run = inside(net, RULES, "@host", install("part", PLAIN) + " || echo refused")
    is_(run.out.split(), [b"refused"], "nor does anything without TLS, where the rule says 443", run)
    run = inside(net, [*RULES, "packages.example:80"], "@host", install("part", PLAIN) + " && ls here | sort | tail -1")
    is_(run.out.split(), [b"part.py"], "an index by plain HTTP, one connection for many requests", run)
    is_((names.asked(), web.hosts()), ({"packages.example", "a.files.example", "b.files.example"},) * 2, "the name server was asked, and a server spoken to, for the allowed names alone")
done()
