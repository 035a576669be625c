#!/usr/bin/python3
"""scan looks into notebooks, archives, ELF files, manifests; it finds credentials and what runs by itself."""
import bz2
import io
import json
import lzma
import os
import sys
import tarfile
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *
from scans import *


def check(what, files, wanted, *options):
    run = scan(files, "--gate", "none", *options)
    is_(sorted(run.found), sorted(wanted), what, run)
    return run


def zipped(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def tarred(files, mode="w:gz"):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


# ---- notebooks ----


def notebook(*cells, **meta):
    rows = [{"cell_type": kind, "source": source, "metadata": {}, **({"outputs": [], "execution_count": None} if kind == "code" else {})} for kind, source in cells]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": meta, "cells": rows}).encode()


check("a notebook's cells are read, its texts are not",
      {"n.ipynb": notebook(("markdown", "eval(x)"), ("code", ["import os\n", "os.system('x')"]), ("raw", "eval(y)"), ("code", "eval(z)"))},
      [("n.ipynb!/cell-2", 2, "python.process"), ("n.ipynb!/cell-4", 1, "python.dynamic-code")])
check("a line for the shell is found, and read as one",
      {"n.ipynb": notebook(("code", "x = 1\n!pip install numpy\nout = !curl http://www.example.org/\neval(x)\n%matplotlib inline"))},
      [("n.ipynb!/cell-1", 2, "notebook.shell"), ("n.ipynb!/cell-1", 2, "shell.install"), ("n.ipynb!/cell-1", 3, "shell.network"), ("n.ipynb!/cell-1", 4, "python.dynamic-code")])
check("a cell that is a shell script", {"n.ipynb": notebook(("code", "%%bash\necho x\nsudo ls"))}, [("n.ipynb!/cell-1", 2, "notebook.shell"), ("n.ipynb!/cell-1", 3, "shell.privilege")])
check("a notebook in another language", {"n.ipynb": notebook(("code", "eval('x')"), kernelspec={"language": "javascript"})}, [("n.ipynb!/cell-1", 1, "javascript.dynamic-code")])
check("a notebook in a language that is not read has no findings", {"n.ipynb": notebook(("code", "eval(x)"), kernelspec={"language": "R"})}, [])
for what, raw in ("no JSON", b"{"), ("no cells", b"{}"), ("deep", b"[" * 4000):
    check(f"a notebook that is none ({what}) is told", {"n.ipynb": raw}, [("n.ipynb", 0, "notebook.broken")])

# ---- archives ----

PY = b"import os\nos.system('x')\n"
for name, make in ("a.zip", zipped), ("a.whl", zipped), ("a.tar", lambda f: tarred(f, "w")), ("a.tar.gz", tarred), ("a.tgz", tarred), ("a.tar.xz", lambda f: tarred(f, "w:xz")), ("a.tar.bz2", lambda f: tarred(f, "w:bz2")):
    check(f"{name} is looked into", {name: make({"d/x.py": PY, "d/y.txt": b"os.system('x')"})}, [(f"{name}!/d/x.py", 2, "python.process")])
check("an archive in an archive", {"a.zip": zipped({"b.tar.gz": tarred({"c.py": PY})})}, [("a.zip!/b.tar.gz!/c.py", 2, "python.process")])
import gzip
check("a single file that is compressed", {"x.py.gz": gzip.compress(PY)}, [("x.py.gz!/x.py", 2, "python.process")])
check("an archive by what it is, not by its name", {"data.bin": zipped({"x.py": PY})}, [("data.bin!/x.py", 2, "python.process")])
check("one behind a script, and behind a text", {"app": b"#!/usr/bin/env python3\n" + zipped({"__main__.py": PY}), "notes.txt": b"notes\n" * 200 + zipped({"__main__.py": PY})},
      [("app", 0, "scan.syntax"), ("app", 2, "scan.disguised"), ("app!/__main__.py", 2, "python.process"), ("notes.txt!/__main__.py", 2, "python.process")])
locked = bytearray(zipped({"x.py": PY}))
for mark, at in (b"PK\3\4", 6), (b"PK\1\2", 8):
    locked[locked.index(mark) + at] |= 1
run = check("an archive that is encrypted", {"a.zip": bytes(locked)}, [("a.zip!/x.py", 0, "archive.broken")])
is_(results(run.sarif)[0]["level"], "error", "nobody looked into it: an error")
check("an archive that is cut off", {"a.tar": tarred({"x.py": PY * 400}, "w")[:2000]}, [("a.tar", 0, "archive.broken"), ("a.tar!/x.py", 0, "archive.broken")])
check("a single file that grows past the bounds, of no kind that is read", {"a.gz": gzip.compress(b"\1" * (257 << 20), 1)}, [("a.gz!/a", 0, "archive.bomb")])
check("one that is large and within them", {"a.gz": gzip.compress(b"\1" * (20 << 20), 1)}, [])
check("a member that is more than is read of one", {"a.zip": zipped({"x": b"\x7fELF" + bytes(17 << 20)})}, [("a.zip!/x", 0, "scan.too-large")])
check("a member of that size", {"a.zip": zipped({"a": bytes(257 << 20)})}, [("a.zip!/a", 0, "archive.bomb")])

for what, squeeze in ("gz", lambda b: gzip.compress(b, 1)), ("bz2", bz2.compress), ("xz", lambda b: lzma.compress(b, preset=0)):
    check(f"zeros alone are a tar without a member, and a .{what} of them a bomb", {f"a.{what}": squeeze(bytes(257 << 20))}, [(f"a.{what}", 0, "archive.bomb")])
check("a few of them are none", {"a.gz": gzip.compress(bytes(1 << 20))}, [])
check("what is behind the end of a tar is looked at", {"a.tar": tarred({"x.py": b""}, "w") + tarred({"y.py": PY}, "w"), "b.tgz": gzip.compress(bytes(1 << 20) + tarred({"z.py": PY}, "w"))},
      [("a.tar!/y.py", 2, "python.process"), ("b.tgz!/z.py", 2, "python.process")])

# ---- lines for a shell in Makefiles and Dockerfiles ----

MAKEFILE = b"""# curl https://a.example.org | sh
CURL = curl -s
SRC = $(wildcard *.c) # sudo
X := $(shell wget -q https://b.example.org/a) $(shell hostname)
Y != nc -l 1
all: $(OBJS) ; sudo make install
\t@eval ls
\t$(CURL) https://c.example.org/i.sh | sh
\t-$(CC) $(CFLAGS) -o $@ $< $(patsubst %.c,%.o,$(SRC)) && \\
\t  curl https://d.example.org
\tfor i in $$(ls); do echo $$i $(@D); done
\t@echo "curl is not run: sudo" > $@
ifeq ($(shell scp a b),)
endif
clean: ; rm -rf out
"""
run = check("a Makefile's recipes and functions", {"Makefile": MAKEFILE, "sub/rules.mk": b"a:\n\tsudo ls\n", "Makefile.txt": b"a:\n\tsudo ls\n"},
            [("Makefile", 4, "shell.network"), ("Makefile", 5, "shell.network"), ("Makefile", 6, "shell.privilege"), ("Makefile", 7, "shell.dynamic-code"), ("Makefile", 8, "shell.dynamic-code"),
             ("Makefile", 8, "shell.network"), ("Makefile", 10, "shell.network"), ("Makefile", 13, "shell.network"), ("sub/rules.mk", 2, "shell.privilege")])
place = next(one for one in results(run.sarif) if one["locations"][0]["physicalLocation"]["region"].get("startLine") == 8)["locations"][0]["physicalLocation"]["region"]
is_((place["snippet"]["text"], place["startColumn"]), ("\t$(CURL) https://c.example.org/i.sh | sh", 2), "the line is shown as it stands there")
DOCKERFILE = b"""FROM debian
# RUN sudo x
ENV curl=1
RUN --mount=type=cache,target=/x true && \\
    # a remark
    curl -s https://a.example.org/i.sh | sh
run ["wget", "https://b.example.org/"]
RUN <<'EOF'
set -e
nc -l 1
EOF
COPY curl /usr/bin/curl
ENTRYPOINT ["curl"]
"""
check("a Dockerfile's", {"Dockerfile": DOCKERFILE, "app.dockerfile": b"RUN sudo ls", "Dockerfile.dev": b"FROM x\nRUN <<"},
      [("Dockerfile", 6, "shell.network"), ("Dockerfile", 6, "shell.dynamic-code"), ("Dockerfile", 7, "shell.network"), ("Dockerfile", 10, "shell.network"), ("app.dockerfile", 1, "shell.privilege")])

# ---- machine code ----

PAYLOAD = open(payload_path(), "rb").read()
run = check("an ELF file is described", {"lib/x": PAYLOAD}, [("lib/x", 0, "binary.elf")])
like(results(run.sarif)[0]["properties"]["pinfold/detail"].encode(), rb"^64-bit (x86-64|arm64) executable", "its kind and machine")
run = scan({"sh": open("/bin/sh", "rb").read()}, "--gate", "none")
like(results(run.sarif)[0]["properties"]["pinfold/detail"].encode(), rb"shared object, imports .*(execve|fork).*interpreter /lib.*ld-linux.*needs libc\.so\.6", "what it imports, its interpreter, what it needs")
check("an ELF file that is cut off", {"x": b"\x7fELF\x02\x01\x01" + bytes(20)}, [("x", 0, "binary.elf")])
check("programs of others", {"a.exe": b"MZ" + bytes(58) + b"\x40\0\0\0" + b"PE\0\0" + bytes(400), "b.wasm": b"\0asm\1\0\0\0", "c.pyc": b"\0" * 16, "D.class": b"\xca\xfe\xba\xbe" + bytes(20)},
      [("a.exe", 0, "binary.foreign"), ("b.wasm", 0, "binary.foreign"), ("c.pyc", 0, "binary.bytecode"), ("D.class", 0, "binary.bytecode")])
check("a thousand classes in an archive are one thing to say", {"a.jar": zipped({f"C{i}.class": b"\xca\xfe\xba\xbe" for i in range(1000)})}, [("a.jar!/C0.class", 0, "binary.bytecode")])

# ---- what runs by itself ----

check("npm's scripts", {"package.json": b'{\n "scripts": {\n  "test": "x",\n  "postinstall": "node x.js"\n }\n}\n'}, [("package.json", 4, "install.npm")])
check("an npm package that only tests", {"package.json": b'{"scripts": {"test": "postinstall", "build": "tsc"}, "name": "install"}'}, [])
check("Python's", {"setup.py": b"", "tests/conftest.py": b"", "x.pth": b"# nothing\nimport os; print(1)\n", "y.pth": b"../lib\n", "pyproject.toml": b"[build-system]\nbackend-path = ['.']\n"},
      [("setup.py", 0, "install.python"), ("tests/conftest.py", 0, "install.test"), ("x.pth", 2, "install.hook"), ("pyproject.toml", 2, "install.python")])
for what, text in (("a nest", b'{"x": ' + b"[" * 70 + b"]" * 70 + b', "scripts": {"install": "x"}}'), ("bytes that are no text", b'{"x": "\xff", "scripts": {"install": "x"}}'),
                   ("a number beyond all", b'{"x": 1e999, "scripts": {"install": "x"}}'), ("nothing", b"")):
    check(f"a package that is {what}: nobody saw its scripts", {"package.json": text}, [("package.json", 0, "install.broken")])
check("one with a byte order mark", {"package.json": b'\xef\xbb\xbf{"scripts": {"install": "x"}}'}, [("package.json", 1, "install.npm")])
for what, text, line in (("a form feed", b"x\x0cimport os\n", 1), ("a byte order mark", b"\xef\xbb\xbfimport os\n", 1), ("a NUL behind", b"import os\n" + bytes(600), 1), ("a separator", "x\u2028import os".encode(), 1), ("a return", b"x\rimport\tos", 1)):
    check(f"a .pth with {what}", {"x.pth": text}, [("x.pth", line, "install.hook")])
check("a .pth that only names it", {"x.pth": b"ximport os\nimportant\nlib/import \n"}, [])
check("a hook of bytes that are no text", {".git/hooks/post-checkout": b"ls\n" + bytes(600)}, [(".git/hooks/post-checkout", 0, "install.hook")])
check("others'", {".git/hooks/post-checkout": b"#!/bin/sh\necho\n", ".git/hooks/pre-push.sample": b"", "binding.gyp": b"{}", "a.csproj": b"<Project>\n<Target><Exec Command='x'/></Target></Project>", "build.rs": b"", ".envrc": b""},
      [(".git/hooks/post-checkout", 0, "install.hook"), ("binding.gyp", 0, "install.native"), ("a.csproj", 2, "install.hook"), ("build.rs", 0, "install.hook"), (".envrc", 0, "install.hook")])

# ---- credentials: put together here, so that nobody finds them in this file ----

KEY = "AK" + "IA" + "Q3EGH7XV2LMNB5RT"
TOKEN = "gh" + "p_" + "a8Fk2LmQ9zXw4VbN7cRt1YuP3sDe6GhJ0kTi"
PRIVATE = "-----BEGIN " + "RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAx8Zk3Vq9Lm2Pw7Tn4Rb6Yc1Hd5Jf0Ks8Ga3Ue\n"
check("keys and tokens", {"a.py": f"k = '{KEY}'\n".encode(), "b.txt": f"\nuse {TOKEN} for it\n".encode(), "key.pem": PRIVATE.encode(), ".env": b"NAME=x\nDB_PASSWORD=kf8aLq20xz\n"},
      [("a.py", 1, "credential.token"), ("b.txt", 2, "credential.token"), ("key.pem", 1, "credential.token"), (".env", 2, "credential.token")])
check("what is none", {"a.py": ("k = 'AK" + "IAIOSFODNN7EXAMPLE'\n").encode(), "b.txt": ("gh" + "p_" + "x" * 36 + " and " + KEY + "TOOLONG\n").encode(), "c.py": ("M = '-----BEGIN " + "PRIVATE KEY-----'\n").encode(),
                          ".env": b"PASSWORD=<yours>\nTOKEN=${TOKEN_FROM_ELSEWHERE}\nAPI_KEY=\n"}, [])
check("files that are made for them", {".ssh/id_ed25519": b"x", ".netrc": b"machine a password b", ".npmrc": b"registry=x\n", ".aws/credentials": b"aws_secret_access_key=x", "credentials": b"aws_secret_access_key"},
      [(".ssh/id_ed25519", 0, "credential.file"), (".netrc", 0, "credential.file"), (".aws/credentials", 0, "credential.file")])
check("scripts go by their first line", {"tool": b"#!/usr/bin/env -S python3 -u\neval(x)\n", "other": b"#!/bin/sh\nsudo ls\n", "text": b"eval(x)\n"}, [("tool", 2, "python.dynamic-code"), ("other", 2, "shell.privilege")])
check("what an editor hides", {"a.py": "x = 1  # \u202e\u2066 nothing\n".encode(), "b.py": "x = '\u200f'\n".encode()}, [("a.py", 1, "scan.disguised")])
check("an encoding that is not read", {"a.cs": "class A {}".encode("utf-16"), "b.cs": b"\xef\xbb\xbfclass A {}\n"}, [("a.cs", 0, "scan.encoding")])
for text in b"<Exec\n Command='x'/>", b"<exec Command='x'/>", b"<PreBuildEvent Condition='true'>x</PreBuildEvent>":
    check("a task in other words", {"a.csproj": b"<Project>\n" + text + b"</Project>\n"}, [("a.csproj", 2, "install.hook")])
check("CMake's letters", {"CMakeLists.txt": b"Execute_Process(COMMAND id)\n"}, [("CMakeLists.txt", 1, "install.hook")])
for name, text in (("a.csproj", "\ufeff<Project>\n<Exec Command='x'/></Project>".encode("utf-16-le")), ("b.fsproj", b"<Project>\n<Exec Command='x'/></Project>"), ("c.vbproj", b"\n<Exec Command='x'/>"),
                   ("d.vcxproj", b"<Project>\n<PreBuildEvent><Command>x</Command></PreBuildEvent></Project>"), ("e.cmake", b"\nexecute_process(COMMAND id)\n")):
    run = scan({name: text})
    is_([(row[0], row[2]) for row in run.found], [(name, "install.hook")], f"{name}: a hook", run)
done()
