#!/usr/bin/python3
"""Real images run by their names: Debian with Python and numpy, gcc, busybox, one with Entrypoint and User."""
import os

from software import BUILDS, LIMITS
from images import Store
from layout import C_ALONE, Layout
from pf import *

NUMPY = """
import numpy as np
a = np.random.default_rng(7).random((200, 200))
print("numpy", np.allclose(a @ np.linalg.inv(a), np.eye(200)), np.fft.fft(np.ones(8))[0].real)
"""
WHOAMI = "import grp, os, pwd, sys; print(os.getuid(), os.getgid(), pwd.getpwuid(os.getuid()).pw_name, sys.argv[1:])"
C = r"""
#include <math.h>
#include <pthread.h>
#include <stdio.h>
static void *half(void *n) { *(double *)n /= 2; return n; }
int main(int argc, char **argv)
{
	double n = sqrt(argc) * 42;
	pthread_t t;
	if (pthread_create(&t, NULL, half, &n) || pthread_join(t, NULL)) return 1;
	return printf("%s %.0f\n", argv[argc - 1], n) < 0;
}
"""

store = Store()


def load(layout, ref):
    loaded = store.image("load", "--ref", ref, "--name", ref, layout.folder, timeout=120)
    is_(loaded.code, 0, f"{ref} is loaded", loaded)


def says(name, want, *words, flags=(), **options):
    run = store.run(*LIMITS, *flags, name, *words, timeout=120, **options)
    is_((run.status, run.code, run.out.decode("utf-8", "replace")), ("exited", 0, want), " ".join((name, *words))[:60], run)


# ---- Debian, in layers: the base, then Python's libraries ----
tree = rootfs("python")
layout = Layout(os.path.join(tmpdir(), "debian"))
pythons = ["./usr/lib/" + name for name in os.listdir(os.path.join(tree, "usr/lib")) if name.startswith("python3")]
layers = [layout.layer(tree, "--exclude=./usr/lib/python3*", "."), layout.layer(tree, *pythons)]
layout.image("debian", layers, Cmd=["python3"])
layout.image("app", layers, Entrypoint=["python3", "-c", WHOAMI], Cmd=["default"], User="www-data", WorkingDir="/usr")
load(layout, "debian")
load(layout, "app")
says("debian", "numpy True 8.0\n", "python3", "-c", NUMPY)
says("debian", "numpy True 8.0\n", flags=("--stdin", "-"), stdin=NUMPY.encode())
says("debian", "yes\n", "sh", "-c", "test -r /etc/debian_version && python3 -m compileall -q /usr/lib/python3/dist-packages/numpy/ma; echo yes")
is_(store.image("verify", "debian").code, 0, "and its tree is what it was")

# ---- Entrypoint and User ----
says("app", "33 33 www-data ['default']\n")
says("app", "33 33 www-data ['a', 'b c']\n", "a", "b c")

# ---- busybox ----
imported = store.image("import", busybox_image(), "busybox")
is_(imported.code, 0, "busybox is imported", imported)
says("busybox", "3\n", "/bin/sh", "-c", "seq 3 | tail -n 1")
says("busybox", "a b\n", "/bin/busybox", "awk", "BEGIN { print \"a\", \"b\" }")

# ---- gcc ----
tree = os.path.join(ROOT, "build/rootfs/languages")
if os.access(os.path.join(tree, "usr/bin/gcc"), os.X_OK):
    layout = Layout(os.path.join(tmpdir(), "gcc"))
    layout.image("gcc", [layout.layer(rootfs("languages"), *C_ALONE, ".")], Cmd=["sh", "-ec", "cat > p.c; gcc -O2 -Wall -o p p.c -lm; ./p compiled"],
                 WorkingDir="/scratch")
    load(layout, "gcc")
    says("gcc", "compiled 30\n", flags=(*BUILDS, "--stdin", "-"), stdin=C.encode())
else:
    skip("no gcc in a tree to be had: run scripts/rootfs languages", "gcc compiles, and what it made runs")
done()
