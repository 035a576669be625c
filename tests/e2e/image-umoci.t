#!/usr/bin/python3
"""A stored tree is what umoci makes of the same image, entry by entry: type, mode, owner, size, contents, link target, attributes,
hard links, time. The image is umoci's and GNU tar's, and comes by a registry and from its layout. What may differ is docs/images.md's."""
import hashlib
import io
import os
import re
import shutil
import stat
import subprocess
import sys
import tarfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from images import Store
from pf import *
from real_registry import *

needed()
if not shutil.which("umoci"):
    skip_all("no umoci on this machine")
RAW = b"bytes-\xff\xfe\x80"
MAKER = os.geteuid() == 0  # the image's, not the test's: who is root makes the image as root
ROOTLESS = [] if MAKER else ["--rootless"]
UMOCI_ENV = {**os.environ, "HOME": tmpdir()}


def umoci(*words):
    subprocess.run(["umoci", *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=UMOCI_ENV)


# ---- the image ----

def put(tree, name, data=b"", mode=0o644):
    path = os.path.join(os.fsencode(tree), os.fsencode(name))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, mode)
    return path


def own(path, uid, gid):
    if MAKER:
        os.chown(path, uid, gid, follow_symlinks=False)


def first(tree):
    """Every kind of entry."""
    at = lambda name: os.path.join(tree, name)
    for mode in (0o000, 0o001, 0o400, 0o444, 0o640, 0o755, 0o777):
        own(put(tree, f"modes/{mode:03o}", b"x" * mode, mode), mode, mode + 1)
    for number, mode in enumerate((0o1777, 0o711, 0o500, 0o000)):
        put(tree, f"folders/{mode:o}/in", b"inside")
        os.chmod(at(f"folders/{mode:o}"), mode)
        own(at(f"folders/{mode:o}"), number, 65535)
    put(tree, "names/with space \\ and \"quotes\"\n\t*", b"odd")
    put(tree, b"names/" + RAW + b"/" + RAW, b"not utf-8")
    put(tree, "names/" + "long" * 60 + "/" + "name" * 60, b"long")
    put(tree, "names/\u00fc\u4e2d", b"utf-8")
    put(tree, "links/one", b"one inode", 0o600)
    for name in ("links/two", "elsewhere"):
        os.link(at("links/one"), at(name))
    for name, target in {"links/relative": "one", "links/absolute": "/links/one", "links/nowhere": "../../../../etc/shadow",
                         "links/long": "t" * 300, "links/folder": "../names"}.items():
        os.symlink(target, at(name))
    own(at("links/relative"), 7, 8)
    os.symlink(RAW, os.path.join(os.fsencode(tree), b"links/raw"))
    os.link(at("links/nowhere"), at("links/hard-to-link"), follow_symlinks=False)
    os.mkfifo(at("fifo"), 0o620)
    put(tree, "empty")
    put(tree, "large", bytes(range(256)) * 8192)
    for name, value in {"user.plain": b"value", "user.zero\u00fc": b"\0\xff\n", "user.none": b""}.items():
        os.setxattr(at("large"), name, value)
    os.setxattr(at("names"), "user.folder", b"has one")
    if MAKER:
        os.setxattr(at("modes/444"), "user.read-only", b"has one")
    for name in ("gone/file", "gone/deep/er/file", "becomes-file/in", "opaque/old", "opaque/deep/old", "stays/kept", "stays/gone",
                 "late/old", "first/old", "lost/target"):
        put(tree, name, name.encode())
    put(tree, "becomes-folder", b"file")
    os.link(at("lost/target"), at("lost/link"))
    os.symlink("names", at("becomes-anything"))
    for second, name in enumerate(("modes/755", "links/one", "links/absolute", "fifo", "names", "stays", "folders/711")):
        os.utime(at(name), (0, 10**9 + second), follow_symlinks=False)
    os.utime(at("modes/777"), (0, 2**32 - 1))
    os.utime(at("large"), (0, 2**33))
    os.utime(at("links/long"), (0, -86400), follow_symlinks=False)


def second(tree):
    """What umoci finds to have changed: whiteouts of its own."""
    at = lambda name: os.path.join(tree, name)
    shutil.rmtree(at("gone"))
    shutil.rmtree(at("becomes-file"))
    put(tree, "becomes-file", b"a file now")
    os.unlink(at("becomes-folder"))
    put(tree, "becomes-folder/in", b"a folder now")
    os.unlink(at("stays/gone"))
    os.unlink(at("lost/target"))
    os.unlink(at("becomes-anything"))
    put(tree, "becomes-anything", b"no link")
    os.chmod(at("modes/640"), 0o604)
    put(tree, "empty", b"no more")
    os.utime(at("modes/755"), (0, 1500000000))


def third(tree):
    """GNU tar's: holes, fractions of a second, attributes."""
    path = put(tree, "sparse", b"begin")
    with open(path, "r+b") as file:
        for offset in (1 << 20, 5 << 20):
            file.seek(offset)
            file.write(b"middle" * 1000)
        file.truncate(9 << 20)
    os.truncate(put(tree, "hole"), 3 << 20)
    os.truncate(put(tree, "tail", b"x" * 4096), 1 << 20)
    put(tree, "fraction/file", b"time")
    os.symlink("file", os.path.join(tree, "fraction/link"))
    os.setxattr(path, "user.sparse", b"too")
    for number, name in enumerate(("sparse", "fraction/file", "fraction/link", "fraction")):
        os.utime(os.path.join(tree, name), ns=(0, (1600000000 + number) * 10**9 + 123456789), follow_symlinks=False)


def fourth():
    """Written by hand: whiteouts in every order, and all that Pinfold leaves out."""
    to = io.BytesIO()
    with tarfile.open(fileobj=to, mode="w", format=tarfile.PAX_FORMAT) as tar:
        def add(name, kind=tarfile.REGTYPE, data=b"", **more):
            info = tarfile.TarInfo(name)
            info.type, info.size, info.mtime, info.mode = kind, len(data), 1400000000, 0o755 if kind == tarfile.DIRTYPE else 0o644
            for key, value in more.items():
                setattr(info, key, value)
            tar.addfile(info, io.BytesIO(data))
        add("first", tarfile.DIRTYPE)
        add("first/.wh..wh..opq")
        add("first/new", data=b"after its whiteout")
        add("late", tarfile.DIRTYPE)
        add("late/new", data=b"before its whiteout")
        add("late/.wh..wh..opq")
        add("opaque", tarfile.DIRTYPE, mode=0o750)
        add("opaque/.wh..wh..opq")
        add("opaque/deep", tarfile.DIRTYPE)
        add("opaque/deep/new", data=b"new")
        add("lower-link", tarfile.LNKTYPE, linkname="elsewhere")
        add("own", data=b"65534", uid=65534, gid=65533)
        add("far", data=b"beyond the map", uid=70000, gid=80000)
        add("set-id", data=b"program", mode=0o6755)
        add("set-gid", tarfile.DIRTYPE, mode=0o2775)
        add("device", tarfile.CHRTYPE, devmajor=1, devminor=3)
        add("block", tarfile.BLKTYPE, devmajor=7, devminor=0)
        add("trusted", data=b"attribute", pax_headers={"SCHILY.xattr.trusted.mark": "x", "SCHILY.xattr.user.mark": "y",
                                                            "SCHILY.xattr.user.overlay.mark": "z"})
        add("capable", data=b"program", pax_headers={"SCHILY.xattr.security.capability": "\1\0\0\2\0\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0"})
    return to.getvalue()


def make_layout():
    folder = tmpdir()
    layout = os.path.join(folder, "layout")
    bundle = os.path.join(folder, "bundle")
    umoci("init", "--layout", layout)
    umoci("new", "--image", layout + ":x")
    umoci("unpack", *ROOTLESS, "--image", layout + ":x", bundle)
    for change in (first, second):
        change(os.path.join(bundle, "rootfs"))
        umoci("repack", "--refresh-bundle", "--image", layout + ":x", bundle)
    tree, tar = tmpdir(), os.path.join(folder, "layer.tar")
    third(tree)
    subprocess.run(["tar", "-C", tree, "--format=posix", "--sparse", "--xattrs", "--numeric-owner", "--owner=12:34", "--group=56:78",
                    "-cf", tar, "sparse", "hole", "tail", "fraction"], check=True)
    umoci("raw", "add-layer", "--image", layout + ":x", tar)
    write(tar, fourth())
    umoci("raw", "add-layer", "--image", layout + ":x", tar)
    umoci("config", "--image", layout + ":x", "--config.cmd", "/x")
    # The ordinary user's umoci reads it too.
    subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
    return layout


# ---- trees ----

KINDS = {stat.S_IFDIR: "d", stat.S_IFREG: "f", stat.S_IFLNK: "l", stat.S_IFIFO: "p", stat.S_IFCHR: "c", stat.S_IFBLK: "b"}


def contents(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def walk(top):
    """{path: what is to be the same}, and of hard links which paths they are. Opens up what an ordinary user cannot read, once
    it has seen it."""
    found, inodes, stack = {}, {}, [b""]
    while stack:
        name = stack.pop()
        path = os.path.join(os.fsencode(top), name) if name else os.fsencode(top)
        st = os.lstat(path)
        kind = KINDS[stat.S_IFMT(st.st_mode)]
        if kind in "df" and not os.access(path, os.R_OK | (os.X_OK if kind == "d" else 0)):
            os.chmod(path, 0o700)
        found[name or b"."] = {
            "type": kind, "mode": None if kind == "l" else stat.S_IMODE(st.st_mode), "uid": st.st_uid, "gid": st.st_gid,
            "size": st.st_size if kind == "f" else None, "contents": contents(path) if kind == "f" else None,
            "target": os.readlink(path) if kind == "l" else None, "mtime": st.st_mtime_ns,
            "xattrs": {key: os.getxattr(path, key, follow_symlinks=False) for key in os.listxattr(path, follow_symlinks=False)}}
        if kind == "d":
            stack += [os.path.join(name, inner) for inner in os.listdir(path)]
        else:
            inodes.setdefault(st.st_ino, set()).add(name)
    for names in inodes.values():
        for name in names:
            found[name]["links"] = names
    return found


def unescape(word):
    return re.sub(rb"\\x([0-9a-f]{2})", lambda m: bytes([int(m[1], 16)]), word)


def with_recorded_owners(tree, record):
    """What is on disk, but the owners are the record's."""
    with open(record, "rb") as file:
        rows = [line.split() for line in file.read().split(b"\n") if line and not line.startswith(b"#")]
    is_({unescape(row[0]) for row in rows}, set(tree), "the record has the tree's paths")
    for row in rows:
        tree[unescape(row[0])].update(uid=int(row[4]), gid=int(row[5]))
    return tree


def owners_of(mark):
    """(uid, gid) of umoci's attribute: fields 1 and 2, varints; an id of 0 can be there as "no change"."""
    numbers, at = {1: 0, 2: 0}, 0
    while at < len(mark):
        key, value, shift = mark[at], 0, 0
        while True:
            at += 1
            value |= (mark[at] & 0x7f) << shift
            shift += 7
            if mark[at] < 0x80:
                break
        numbers[key >> 3], at = value, at + 1
    return tuple(0 if number == 0xffffffff else number for number in numbers.values())


# ---- what may differ: docs/images.md, "Differences from umoci" ----

MARK = "user.rootlesscontainers"


def as_user(tree, full):
    """umoci's tree of an ordinary user, with the owners of the image. umoci notes them in an attribute, which a link and a file
    that is not to be written cannot have; where there is root, full is root's tree, which has all of it."""
    for name, entry in tree.items():
        mark = entry["xattrs"].pop(MARK, None)
        whole = entry["type"] != "l" and entry["mode"] & 0o200
        if full:
            entry.update(uid=full[name]["uid"], gid=full[name]["gid"])
            if not whole:
                entry["xattrs"] = full[name]["xattrs"]
        else:
            entry["uid"], entry["gid"] = owners_of(mark or b"") if whole else (None, None)
    return tree


def expected(tree):
    """umoci's tree with the documented differences made, and which paths each was made of."""
    made = {}
    wanted = {}

    def differs(what, name):
        made.setdefault(what, set()).add(name)

    for name, entry in tree.items():
        if name in (b"device", b"block"):  # for an ordinary user umoci makes empty files of them
            differs("device", name)
            continue
        ids = (entry["uid"], entry["gid"])
        if WHO == "root" and max(ids) > 65535:
            entry["uid"], entry["gid"] = (65534 if number > 65535 else number for number in ids)
            differs("owner", name)
        if entry["type"] in "df" and entry["mode"] & 0o6000:
            entry["mode"] &= ~0o6000
            differs("set-id", name)
        for key in [key for key in entry["xattrs"] if not key.startswith("user.") or key.startswith("user.overlay.")]:
            del entry["xattrs"][key]
            differs("attribute", name)
        if not 0 <= entry["mtime"] < 2**32 * 10**9:
            entry["mtime"] = 0 if entry["mtime"] < 0 else (2**32 - 1) * 10**9
            differs("time", name)
        wanted[name] = entry
    return wanted, made


OWNERS = ("uid", "gid")  # None where nobody knows


def same(got, want, how):
    is_(sorted(set(got) - set(want)), [], f"{how}: nothing that umoci does not have")
    is_(sorted(set(want) - set(got)), [], f"{how}: nothing is missing")
    for field in ("type", "mode", "uid", "gid", "size", "contents", "target", "xattrs", "links", "mtime"):
        different = {name: (got[name].get(field), want[name].get(field)) for name in set(got) & set(want)
                     if got[name].get(field) != want[name].get(field) and (want[name].get(field) is not None or field not in OWNERS)}
        is_(different, {}, f"{how}: {field} (got, want)")


def unpacked_by_umoci(layout, user=WHO):
    bundle = os.path.join(tmpdir(user), "bundle")
    run = pinfold("unpack", *(["--rootless"] if user == "user" else []), "--image", layout + ":x", bundle, user=user,
                  program=shutil.which("umoci"))
    is_(run.code, 0, f"umoci unpacks it ({user})", run)
    return walk(os.path.join(bundle, "rootfs"))


def stored(store, name, how):
    is_(store.image("verify", name).code, 0, f"{how}: verify agrees")
    folder = store.tree(name)
    tree = walk(os.path.join(folder, "rootfs"))
    return with_recorded_owners(tree, os.path.join(folder, "record")) if WHO == "user" else tree


layout = make_layout()
tree = unpacked_by_umoci(layout)
if WHO == "user":
    tree = as_user(tree, unpacked_by_umoci(layout, "root") if MAKER else None)
want, made = expected(tree)
ok(len(want) > 60, f"the image is no small one: {len(want)} paths")

# Each documented difference is one here, and nothing beyond it.
differences = {"device": {b"device", b"block"}, "time": {b"large", b"links/long"}, "attribute": {b"trusted", b"capable"},
               "set-id": {b"set-id", b"set-gid"}, "owner": {b"far"}}
if WHO == "user":
    # umoci as an ordinary user keeps neither owners nor what only root may set.
    differences["attribute"] = {b"trusted"}
    del differences["owner"]
is_(made, differences, "what differs, and why")

store = Store()
run = store.image("load", "--name", "loaded", layout)
is_(run.code, 0, "loaded from the layout", run)
same(stored(store, "loaded", "load"), want, "load")

real = Real()
real.fill(layout, "x")
store = Store()
name = f"{real.name}/test/x:v1"
run = store.image("pull", "--insecure-registry", name)
is_(run.code, 0, "pulled from the registry", run)
same(stored(store, name, "pull"), want, "pull")
real.end()
done()
