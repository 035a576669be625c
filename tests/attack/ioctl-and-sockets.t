#!/usr/bin/python3
"""KI06, KI10, KI11: ioctl, socket, personality and prctl let through what the policy lists, whatever the descriptor."""
import os
import errno
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from attack import *
from pf import *

VERDICTS = os.path.join(BUILD, "tests/attack/verdicts")
tree = probe_image()
numbers = {name: int(nr) for nr, name in
           map(str.split, subprocess.run([VERDICTS, "names"], stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines())}

# ---- every ioctl number of two bytes, and those of the large drivers, on what descriptors there can be ----
# linux/ioctl.h: type in the second byte, the size and direction above. Bad pointer.
RANGES = [("0", "ffff"), ("80041272", "80041272"), ("c0045400", "c00454ff"), ("400454c0", "400454ff"), ("ae00", "aeff"), ("b700", "b70f"),
          ("40049409", "40049409"), ("80086601", "80086601"), ("40086602", "40086602"), ("c0189436", "c0189436")]
# What may come back instead of ENOTTY: the list of the policy, by value (asm-generic/ioctls.h, linux/sockios.h, linux/fs.h).
TERMINAL = {*range(0x5401, 0x540c), 0x540e, 0x540f, 0x5410, 0x5413, 0x5414, 0x5422, 0x5425, 0x5429, *range(0x542a, 0x542e)}
ANY = {0x541b, 0x5421, 0x5450, 0x5451, 0x5452}
PTY = {0x80045430, 0x40045431, 0x5441, 0x540d}
INTERFACES = {0x8910, 0x8912, 0x8913, 0x8915, 0x8917, 0x8919, 0x891b, 0x891d, 0x8921, 0x8927, 0x8933, 0x8942, 0x8970}
INJECTION = {0x5412, 0x541c}
FLAGS = {0x80086601}
REFLINK = {0x40049409, 0x4020940d}
LISTED = TERMINAL | ANY | PTY | INTERFACES | INJECTION | FLAGS | REFLINK



def answered(text):
    """(numbers tried, those of no list that were not ENOTTY)."""
    rows, found, tried = [line.split() for line in text.decode().splitlines()], set(), 0
    for first, last, sys_ in rows:
        first, last = int(first, 16), int(last, 16)
        tried += last - first + 1
        if int(sys_) != errno.ENOTTY:
            found |= set(range(first, last + 1)) - LISTED
    return tried, found


# What the kernel itself answers, of numbers in no list: a pipe, an epoll and /dev/null have none.
TO_BE_FOUND = {"socket", "file", "folder", "pty", "namespace"}
for kind in "null", "pipe", "socket", "file", "folder", "pty", "epoll", "namespace":
    run = do(tree, "sweep-range", kind, *(n for pair in RANGES for n in pair))
    rows = [line.split() for line in run.out.decode().splitlines()]
    seen, open_ = answered(run.out)
    ok(seen > 65536, f"{kind}: {seen} ioctl numbers were tried", run)
    is_([hex(n) for n in sorted(open_)], [], f"{kind}: ENOTTY for all that is not listed")
    bare = do(tree, "sweep-range", kind, *(n for pair in RANGES for n in pair), flags=["--seccomp", allow_all()])
    _, reached = answered(bare.out)
    if kind in TO_BE_FOUND:
        ok(reached, f"{kind}: control: without the filter {len(reached)} of them answer", bare)
    bad = [row for row in rows if int(row[0], 16) in INJECTION and int(row[2]) != errno.EPERM]
    is_(bad, [], f"{kind}: EPERM for what types into a terminal")

# ---- sockets: 46 families, every type, and every netlink protocol ----
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
STREAM, DGRAM, RAW, RDM, SEQPACKET, DCCP, PACKET = 1, 2, 3, 4, 5, 6, 10
vectors = [(numbers["socket"], family, kind, 0) for family in range(46) if family != AF_NETLINK
           for kind in (STREAM, DGRAM, RAW, RDM, SEQPACKET, DCCP, PACKET)]
vectors += [(numbers["socket"], AF_NETLINK, kind, protocol) for protocol in range(32) for kind in (DGRAM, RAW)]
vectors += [(numbers["socketpair"], family, STREAM, 0, 2**64 - 1) for family in range(46)]


def sweep(rows, *flags):
    path = os.path.join(tmpdir(), "vectors")
    with open(path, "w", encoding="ascii") as file:
        file.writelines(f"{row[0]} " + " ".join(f"{a:x}" for a in (*row[1:], *[0] * (7 - len(row)))) + "\n" for row in rows)
    run = do(tree, "sweep", flags=["--stdin", path, *flags])
    return dict(zip(rows, run.out.decode().split("\n"))), run


outcomes, run = sweep(vectors)
denied = str(errno.EAFNOSUPPORT)
reached = {v for v in vectors if outcomes.get(v) != denied}
allowed = {v for v in vectors if v[0] == numbers["socket"] and (
    (v[1] in (AF_UNIX, AF_INET, AF_INET6) and v[2] in (STREAM, DGRAM, SEQPACKET)) or (v[1] == AF_NETLINK and v[3] == 0))}
allowed |= {v for v in vectors if v[0] == numbers["socketpair"] and v[1] == AF_UNIX}
is_(sorted(reached - allowed), [], f"{len(vectors)} sockets and pairs: no other family, type or protocol", run)
made = {v for v in vectors if outcomes.get(v) == "ok"}
ok({(numbers["socket"], f, k, 0) for f in (AF_UNIX, AF_INET, AF_INET6) for k in (STREAM, DGRAM)} <= made,
   "unix, inet and inet6 work", sorted(made))
bare, _ = sweep(vectors, "--seccomp", allow_all())
ok(len({v for v in vectors if bare.get(v) == "ok"} - made) > 5, "control: without the filter more of them are made")
done()
