#!/usr/bin/python3
"""Hostile archives as inputs that are unpacked: names that climb, links that lead out, devices, bombs, lists that never
end, bytes that are no archive. Nothing of it is anywhere but in the sandbox's own folder, the run is refused with a
reason, and whoever reads the archive holds nothing. Each with a control that shows the attempt would work."""
import gzip
import os
import random
import subprocess
import sys
import tarfile
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

MIB = 1 << 20
work = tmpdir()
DIR, LNK, SYM, FIFO, CHR, BLK = ({"type": kind} for kind in (tarfile.DIRTYPE, tarfile.LNKTYPE, tarfile.SYMTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE))


def tar(*entries):
    """entries: (name, data or None, what else a TarInfo has). Names are written as they are."""
    path = os.path.join(work, f"archive{len(os.listdir(work))}")
    with open(path, "wb") as file:
        for name, data, more in entries:
            info = tarfile.TarInfo(name)
            info.mode, info.mtime = 0o644, 1
            for key, value in more.items():
                setattr(info, key, value)
            info.size = len(data or b"")
            file.write(info.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape"))
            file.write((data or b"") + bytes(-len(data or b"") % 512))
        file.write(bytes(1024))
    return path


def zipped(*entries):
    path = os.path.join(work, f"archive{len(os.listdir(work))}")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for info, data in entries:
            archive.writestr(info, data)
    return path


LOOK = "find /scratch -mindepth 2 | sort; find / -xdev -name planted 2>/dev/null; cat /scratch/other/kept 2>/dev/null"
other = os.path.join(tmpdir(), "other")
os.mkdir(other)
with open(os.path.join(other, "kept"), "wb") as kept:
    kept.write(b"kept\n")


def unpack(archive, *options):
    return pinfold("run", "--input", other + ":other", "--input", archive + ":in:unpack", *options, "@host", "sh", "-c", LOOK)


def refused(archive, words, name, *options):
    run = unpack(archive, *options)
    ok(run.status == "refused" and run.result["cause"]["stage"] == "inputs" and run.out == b"" and words in run.message, name, run)
    return run


# ---- names ----
# The control: Python's own unpacker without its filter goes where the names lead.
control = os.path.join(tmpdir(), "in")
os.mkdir(control)
climbs = tar(("../planted", b"x", {}))
with tarfile.open(climbs) as archive:
    archive.extraction_filter = staticmethod(lambda member, path: member)
    archive.extractall(control)
ok(os.path.exists(os.path.join(control, "../planted")), "control: a name that climbs is followed by who does not look")
for name in ("../planted", "a/../../planted", "a/..", "..", "/planted", "//planted", "/scratch/other/kept", "../other/kept", "a/../../other/kept"):
    refused(tar((name, b"x", {})), "absolute, climbs", f"{name} in a tar")
    refused(zipped((zipfile.ZipInfo(name), b"x")), "absolute, climbs", f"{name} in a zip")
refused(tar(("n" * 256, b"x", {})), "too long", "a name of 256 bytes")
refused(tar(("a/" * 2100 + "x", b"x", {})), "too long", "a path of more than PATH_MAX")
refused(tar(("a/" * 300 + "x", b"x", {})), "deeper than 256", "300 folders deep")
refused(tar(("./", b"x", {"type": tarfile.REGTYPE})), "Damaged", "an entry for the folder itself that is no folder")
run = unpack(tar(("a\n\x1b[2J\udcff", b"x", {}), ("-rf", b"x", {})))
is_((run.status, run.out.count(b"\x1b[2J")), ("exited", 1), "names with control characters are names", run)
run = refused(tar(("\x1b[2J/../x", b"x", {})), "absolute, climbs", "and in a message they are not themselves")
ok(b"\x1b" not in run.err, "a terminal sees none of it", repr(run.err))

# ---- links ----
secret = os.path.join(tmpdir(), "secret")
with open(secret, "w", encoding="utf-8") as file:
    file.write("the host's secret\n")
through = tar(("out", None, dict(SYM, linkname="/tmp")), ("out/planted", b"x", {}))
refused(through, "out", "a file through a link of the archive's own")
refused(tar(("out", None, dict(SYM, linkname="../other")), ("out/kept", b"gone\n", {})), "out", "to another input's folder")
refused(tar(("d", None, DIR), ("d/up", None, dict(SYM, linkname="..")), ("d/up/planted", b"x", {})), "", "and up within it")
for target in (secret, "/etc/passwd", "../other/kept", "../../etc/passwd", "/proc/self/root" + secret, "/scratch/other/kept"):
    refused(tar(("hard", None, dict(LNK, linkname=target))), "hard link", f"a hard link to {target[:20]}")
refused(tar(("up", None, dict(SYM, linkname="..")), ("hard", None, dict(LNK, linkname="up/other/kept"))), "find what is linked", "a hard link through a link")
refused(tar(("hard", None, dict(LNK, linkname="hard"))), "", "a hard link to itself")
refused(tar(("hard", None, dict(LNK, linkname="later")), ("later", b"x", {})), "link", "a hard link to what comes later")
refused(tar(("d", None, DIR), ("hard", None, dict(LNK, linkname="d"))), "link", "a hard link to a folder")
run = unpack(tar(("soft", None, dict(SYM, linkname=secret)), ("again", None, dict(LNK, linkname="soft")), ("soft", b"replaced\n", {})))
ok(run.status == "exited" and b"/scratch/in/soft\n" in run.out, "a link that a file replaces is not written through", run)
is_(open(secret, encoding="utf-8").read(), "the host's secret\n", "and leads nowhere before")

# ---- kinds ----
for kind, words in ((FIFO, "a FIFO"), (dict(CHR, devmajor=1, devminor=3), "a device"), (dict(BLK, devmajor=8, devminor=0), "a device")):
    refused(tar(("fine", b"x", {}), ("special", None, kind)), "special is " + words, words)
refused(tar(("a", b"x", {}), ("a/planted", b"x", {})), "a", "a folder where a file is")
refused(tar(("a/x", b"x", {}), ("a", b"x", {})), "a", "a file where a folder is")
run = unpack(tar(("suid", b"x", {"mode": 0o6755}), ("all", b"x", {"mode": 0o7777})))
is_(run.status, "exited", "set-id bits are the program's own, on a mount that knows none", run)
run = pinfold("run", "--input", tar(("other/planted", b"x", {}), ("top", b"x", {})) + ":.:unpack", "--input", other + ":other", "@host", "true")
is_(run.status, "refused", "two inputs do not meet in one folder", run)
run = pinfold("run", "--input", other + "/kept:kept", "--input", tar(("kept", b"gone\n", {})) + ":.:unpack", "@host", "true")
is_(run.status, "refused", "nor does an archive replace another input", run)

# ---- sizes ----
bomb = os.path.join(work, "bomb.gz")
with gzip.open(bomb, "wb", 9) as file:
    info = tarfile.TarInfo("zeros")
    info.size = 300 * MIB
    file.write(info.tobuf())
    for _ in range(300):
        file.write(bytes(MIB))
    file.write(bytes(1024))
is_(sum(len(block) for block in iter(lambda f=gzip.open(bomb): f.read(MIB), b"")) > 300 * MIB, True, "control: 300 KiB that become 300 MiB")
refused(bomb, "left of the scratch", "a bomb ends where the scratch ends", "--scratch", "32M")
refused(bomb, "more than 500 times", "and where the ratio ends, whatever room there is", "--scratch", "none", "--memory", "none")
with zipfile.ZipFile(os.path.join(work, "bomb.zip"), "w", zipfile.ZIP_DEFLATED) as archive:
    for number in range(3):
        archive.writestr(f"zeros{number}", bytes(100 * MIB))
refused(os.path.join(work, "bomb.zip"), "left of the scratch", "a zip bomb too", "--scratch", "32M")
refused(os.path.join(work, "bomb.zip"), "more than 500 times", "and by its ratio", "--scratch", "none", "--memory", "none")
refused(tar(*[("same", b"", {})] * 200), "more names", "one name again and again is as many", "--scratch-inodes", "100")
refused(tar(*[("d/" * 100 + f"{n}/" + "e/" * 100, None, DIR) for n in range(3)]), "more names", "folders that nobody named count", "--scratch-inodes", "300")
lies = bytearray(open(tar(("short", b"x" * 600, {})), "rb").read())
lies[124:136] = b"77777777777\0"
lies[148:156] = b"%06o\0 " % (sum(lies[:148]) + 8 * 32 + sum(lies[156:512]))
with open(os.path.join(work, "lies"), "wb") as file:
    file.write(lies)
refused(os.path.join(work, "lies"), "", "a header that promises 8 GiB")
hole = os.path.join(work, "hole")
with open(hole, "wb") as file:
    subprocess.run(["sh", "-c", 'cd "$1" && truncate -s 1T hole && tar -cSf - hole', "sh", tmpdir()], stdout=file, check=True)
run = unpack(hole, "--scratch", "32M")
ok(run.status == "exited" and run.result["usage"]["scratch_bytes"] < MIB, "a hole of 1 TiB is a hole", run)

# ---- damage ----
good = zipped((zipfile.ZipInfo("a"), b"x" * 5000), (zipfile.ZipInfo("b/c"), os.urandom(9000)))
whole = {"tar": open(tar(("a", b"x" * 5000, {}), ("b/c", b"y" * 40000, {}), ("l", None, dict(SYM, linkname="a"))), "rb").read(), "zip": open(good, "rb").read()}
whole["gz"] = gzip.compress(whole["tar"])
dice = random.Random(5)
seen = {}
for kind, data in whole.items():
    for _ in range(25):
        bad = bytearray(data)
        for _ in range(dice.randrange(1, 8)):
            bad[dice.randrange(len(bad))] = dice.randrange(256)
        bad = bad[:dice.randrange(len(bad) // 2, len(bad) + 1)]
        with open(os.path.join(work, "damaged"), "wb") as file:
            file.write(bad)
        run = unpack(os.path.join(work, "damaged"))
        seen[run.status] = seen.get(run.status, 0) + 1
        if run.status not in ("exited", "refused"):
            diag(f"{kind}: {run}")
is_(set(seen) - {"exited", "refused"}, set(), f"damaged ones are read or refused: {seen}")

# ---- who reads it ----
# A reader that waits for a FIFO of the test's own: the pipe to a sender that is stopped.
big = os.path.join(work, "big")
with open(big, "wb") as file:
    info = tarfile.TarInfo("big")
    info.size = 64 * MIB
    file.write(info.tobuf())
    for _ in range(64):
        file.write(os.urandom(MIB))
    file.write(bytes(1024))


def unpacker_of(parent):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                name, rest = file.read().rsplit(") ", 1)
            if name.endswith("(pinfold-unpack") and int(rest.split()[1]) == parent:
                return int(pid)
        except OSError:
            continue
    return None


facts = None
with start("run", "--scratch", "128M", "--memory", "512M", "--input", big + ":big:unpack", "@host", "sleep", "1000", events=True) as running:
    pid = wait_for(lambda: unpacker_of(running.pid), what="the unpacker")

    def looked():
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            status = dict(line.split(":\t", 1) for line in file.read().splitlines() if ":\t" in line)
        return status if status["Seccomp"].strip() == "2" or status["State"].startswith("Z") else None
    facts = wait_for(looked, what="its filter")
    if os.geteuid() == 0 and not facts["State"].startswith("Z"):
        is_([int(facts[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")], [0] * 5, "the unpacker has no capability")
        is_((facts["NoNewPrivs"].strip(), facts["Seccomp"].strip()), ("1", "2"), "no new privileges, and a filter")
        try:
            root = os.listdir(f"/proc/{pid}/root/")
            links = {os.readlink(f"/proc/{pid}/fd/{n}").split(":")[0] for n in os.listdir(f"/proc/{pid}/fd")}
        except OSError:
            root, links = [], {big, "pipe"}
        is_((root, links), ([], {big, "pipe"}), "an empty root, the archive and a pipe")
        unlike(facts["Uid"], r"^0\b" if WHO == "root" else r"^none", "and not root's id")
    running.process.kill()
    running.process.wait()
    wait_for(lambda: unpacker_of(running.pid) is None and (not os.path.exists(f"/proc/{pid}") or open(f"/proc/{pid}/stat").read().rsplit(") ", 1)[1][0] == "Z"), what="its end")
ok(True, "a killed supervisor takes it along")
done()
