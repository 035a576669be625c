#!/usr/bin/python3
"""A hostile archive as the source of a job plants nothing outside of its tree, reads nothing of the host, and brings neither devices nor powers along; what is not the declared bytes is not even unpacked. Each attempt has a control that succeeds where nothing confines it."""
import gzip
import hashlib
import io
import os
import shutil
import stat
import sys
import tarfile
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../e2e"))
from egress_net import Internet
from git_server import GitServer
from jobs import Jobs, stage
from pf import *
from software import tools

image_ = tools("curl", "tar", "gzip")
OUT = tmpdir(mode=0o777)
SECRET = os.path.join(tmpdir(), "secret")
with open(SECRET, "w", encoding="ascii") as file:
    file.write("the host's secret\n")
SHOW = "cd /run/input/source && find . | sort && find . -type f -exec cat {} + ; find . ! -type f ! -type d ! -type l; find . -perm /7000 -type f"


def member(name, content=None, **more):
    info = tarfile.TarInfo(name)
    info.size = len(content or b"")
    for key, value in more.items():
        setattr(info, key, value)
    return info, content


def tar_of(members):
    to = io.BytesIO()
    with tarfile.open(fileobj=to, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for info, content in members:
            tar.addfile(info, io.BytesIO(content) if content is not None else None)
    return to.getvalue()


def planted():
    """What came to be in OUT, and is not any more."""
    names = sorted(os.listdir(OUT))
    for name in names:
        os.unlink(os.path.join(OUT, name))
    return names


def naive(archive):
    """An unpacker as many a script has it: names are joined to a folder, and that is all."""
    to = tmpdir("root")
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for info in tar:
            path = os.path.join(to, info.name)
            if info.isdir():
                os.makedirs(path, exist_ok=True)
                continue
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if info.issym():
                os.symlink(info.linkname, path)
            elif info.islnk():
                os.link(os.path.join(to, info.linkname), path)
            elif info.isfifo():
                os.mkfifo(path)
            elif info.ischr() and os.geteuid() == 0:
                os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(info.devmajor, info.devminor))
            elif info.isreg():
                with open(path, "wb") as file:
                    shutil.copyfileobj(tar.extractfile(info), file)
                os.chmod(path, info.mode)
    return to


UP = "../" * 12
HERE = member("top/here", b"here\n")
with Internet() as net:
    served = GitServer(net, {"git.example": "93.184.216.40"})
    jobs = Jobs()

    def serve(name, archive):
        with open(os.path.join(served.files, name), "wb") as file:
            file.write(archive)

    def fetch(name, **more):
        return jobs.run({"image": image_, "source": {"archive": f"https://git.example/files/{name}", "ca": served.ca, **more}, "analyse": "none",
                         "stages": [stage("show", "sh", "-c", SHOW, inputs={"read-only": ["@source"]})]}, net=net)

    # ---- names and links that lead out ----
    OUTWARD = {
        "absolute": [member(os.path.join(OUT, "absolute"), b"planted\n"), HERE],
        "dotdot": [member(UP + OUT[1:] + "/dotdot", b"planted\n"), HERE],
        "through": [member("way", type=tarfile.SYMTYPE, linkname=OUT), member("way/through", b"planted\n"), HERE],
        "up": [member("way", type=tarfile.SYMTYPE, linkname=UP + OUT[1:]), member("way/up", b"planted\n"), HERE],
        "twice": [member("a", type=tarfile.SYMTYPE, linkname="."), member("a/b", type=tarfile.SYMTYPE, linkname=OUT), member("b/twice", b"planted\n"), HERE],
    }
    for name, members in OUTWARD.items():
        archive = tar_of(members)
        naive(archive)
        is_(planted(), [name], f"{name}: the control, which a naive unpacker plants outside")
        serve(name + ".tar", archive)
        job = fetch(name + ".tar")
        is_((planted(), job.status in ("succeeded", "failed")), ([], True), f"{name}: a job plants nothing", job)
        if job.status == "failed":
            is_((job.result["cause"]["stage"], job.stage("show")["state"]), ("unpack", "skipped"), f"{name}: and nothing runs", job)
        else:
            ok(b"./top/here\n" in job.out, f"{name}: what is in it is the tree", job)

    # ---- what would be read ----
    for name, members in (("symlink", [member("s", type=tarfile.SYMTYPE, linkname=SECRET), member("e", type=tarfile.SYMTYPE, linkname="/etc/hostname"), HERE]),
                          ("hardlink", [member("way", type=tarfile.SYMTYPE, linkname=SECRET), member("h", type=tarfile.LNKTYPE, linkname="way"), HERE])):
        archive = tar_of(members)
        to = naive(archive)
        is_(open(os.path.join(to, "s" if name == "symlink" else "h"), encoding="ascii").read(), "the host's secret\n", f"{name}: the control leads to the host's file")
        serve(name + ".tar", archive)
        job = fetch(name + ".tar")
        ok(b"secret\n" not in job.out.replace(b"./secret\n", b"") and b"the host" not in job.out, f"{name}: a job's tree does not", job)
        is_((job.status, job.out), ("succeeded", b".\n./top\n./top/here\nhere\n"), f"{name}: links that lead out are no part of it", job)

    # ---- devices, pipes, set-id bits ----
    if WHO == "root":
        archive = tar_of([member("zero", type=tarfile.CHRTYPE, devmajor=1, devminor=5, mode=0o666), HERE])
        ok(stat.S_ISCHR(os.stat(os.path.join(naive(archive), "zero")).st_mode), "a device: the control has it")
    for name, members in (("device", [member("zero", type=tarfile.CHRTYPE, devmajor=1, devminor=5, mode=0o666), HERE]), ("fifo", [member("pipe", type=tarfile.FIFOTYPE), HERE]),
                          ("setuid", [member("su", b"#!/bin/sh\n", mode=0o6755), HERE])):
        archive = tar_of(members)
        if name == "fifo":
            ok(stat.S_ISFIFO(os.stat(os.path.join(naive(archive), "pipe")).st_mode), "a pipe: the control has it")
        elif name == "setuid":
            ok(os.stat(os.path.join(naive(archive), "su")).st_mode & stat.S_ISUID, "set-id bits: the control has them")
        serve(name + ".tar", archive)
        job = fetch(name + ".tar")
        if job.status == "succeeded":
            ok(not any(path in job.out.split(b"\n")[2:] for path in (b"./zero", b"./pipe")) and job.out.count(b"./su") <= 1, f"{name}: is not in the tree that stages get", job)
        else:
            is_((job.result["cause"]["stage"], job.stage("show")["state"]), ("unpack", "skipped"), f"{name}: is not unpacked, and nothing runs", job)

    # ---- what is no archive, or too much of one ----
    for name, archive, more in (("nothing.tar", b"", {}), ("text.tar.gz", b"no archive\n" * 100, {}), ("cut.tar.gz", gzip.compress(tar_of([member("f", os.urandom(100000))]))[:60000], {}),
                                ("bomb.tar.gz", gzip.compress(tar_of([member("zeros", bytes(48 << 20))])), {"max-bytes": "4M"}),
                                ("many.tar.gz", gzip.compress(tar_of([member(f"d/{n}", b"") for n in range(3000)])), {"max-files": 500}),
                                ("deep.tar.gz", gzip.compress(tar_of([member("d/" * 200 + "f", b"x")])), {})):
        serve(name, archive)
        job = fetch(name, **more)
        if name == "nothing.tar" and job.status == "succeeded":
            is_(job.out, b".\n", "an empty file is an empty tree to tar", job)
            continue
        is_((job.status, job.result["cause"]["stage"] in ("fetch", "unpack"), job.stage("show")["state"], job.result["source"]["digest"]), ("failed", True, "skipped", None), f"{name}: failed, and nothing runs", job)

    # ---- an archive that is named as a tool's option ----
    archive = tar_of([member("--checkpoint-action=exec=sh run", b""), member("-rf", b""), member("run", f"touch {OUT}/ran\n".encode()), HERE])
    serve("--to-command=sh.tar", archive)
    job = fetch("--to-command=sh.tar")
    is_((job.status, planted(), b"./-rf\n" in job.out), ("succeeded", [], True), "names that look like options are names", job)

    # ---- other bytes than those that are meant ----
    good, bad = tar_of([HERE]), tar_of([member("top/here", b"other\n")])
    digest = "sha256:" + hashlib.sha256(good).hexdigest()
    serve("moved.tar", good)
    job = fetch("moved.tar", digest=digest)
    is_((job.status, job.result["source"]["trust"]), ("succeeded", "declared"), "the control: the declared bytes", job)
    job = fetch("moved.tar")
    is_((job.status, job.result["source"]["trust"]), ("succeeded", "first-use"), "and those of the first time", job)
    serve("moved.tar", bad)
    for more in ({"digest": digest}, {}):
        job = fetch("moved.tar", **more)
        is_((job.status, job.result["cause"]["stage"], job.stages("unpack"), job.result["source"]["trust"], job.stage("show")["state"]), ("failed", "fetch", [], None, "skipped"), f"others are not unpacked ({'declared' if more else 'recorded'})", job)
    serve("moved.tar", good)
    is_(fetch("moved.tar").result["source"]["trust"], "recorded", "and what was recorded stays so")

    # ---- zip ----
    if shutil.which("unzip"):
        to = io.BytesIO()
        with zipfile.ZipFile(to, "w") as packed:
            packed.writestr(UP + OUT[1:] + "/zipped", "planted\n")
            packed.writestr(os.path.join(OUT, "absolute"), "planted\n")
            link = zipfile.ZipInfo("way")
            link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
            packed.writestr(link, OUT)
            packed.writestr("way/through", "planted\n")
            packed.writestr("top/here", "here\n")
        folder = tmpdir("root")
        with zipfile.ZipFile(to) as packed:
            for info in packed.infolist():
                if info.filename.startswith("..") or info.filename.startswith("/"):
                    with open(os.path.join(folder, info.filename), "wb") as file:
                        file.write(packed.read(info))
        is_(planted(), ["absolute", "zipped"], "zip: the control, which a naive unpacker plants outside")
        serve("evil.zip", to.getvalue())
        job = fetch("evil.zip")
        is_((planted(), job.status in ("succeeded", "failed")), ([], True), "a job plants nothing", job)
    is_(jobs.leavings(), [], "nothing is left")
done()
