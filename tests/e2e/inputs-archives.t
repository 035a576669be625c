#!/usr/bin/python3
"""--input SRC:DST:unpack puts in what an archive holds, as a folder would go in: tar in each compression and zip, with
links, holes, modes and times; what does not fit is refused with the figures before the program starts."""
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *

MIB = 1 << 20
TIME = 1234567890
work = tmpdir()
tree = os.path.join(work, "tree")
host = ["@host", "sh", "-c"]


def put(path, data=b"x", mode=0o644):
    path = os.path.join(tree, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, mode)
    return path


def named(name):
    return os.path.join(work, name)


put("a/file", b"contents\n", 0o640)
put("a/run.sh", b"#!/bin/sh\necho ran $1\n", 0o755)
put("empty", b"", 0o400)
put("gr\u00fc\u00df \n dich", b"odd")
put("large", os.urandom(3 * MIB + 17))
os.link(put("linked", b"one\n"), os.path.join(tree, "a/again"))
os.symlink("../../../../etc/passwd", os.path.join(tree, "a/link"))
os.symlink("n" * 200, os.path.join(tree, "dangling"))
with open(put("sparse", b""), "r+b") as file:
    file.truncate(64 * MIB)
    file.seek(32 * MIB)
    file.write(b"middle")
os.makedirs(os.path.join(tree, "closed/in"))
os.chmod(os.path.join(tree, "a"), 0o2751)
for folder, names, files in os.walk(tree, topdown=False):
    for name in files + names:
        os.utime(os.path.join(folder, name), (TIME, TIME), follow_symlinks=False)
os.chmod(os.path.join(tree, "closed"), 0o500)
os.utime(os.path.join(tree, "closed"), (TIME, TIME))

LIST = r'cd "$1" && find . -mindepth 1 -printf "%P|%y|%m|%n|%s|%l|%T@\0"'


def listing(text):
    """Of find; the size of a folder is its file system's affair."""
    rows = [row.split(b"|") for row in text.split(b"\0") if row]
    return sorted(tuple(row[:2] + [b""] * 3 + row[5:]) if row[1] == b"d" else tuple(row) for row in rows)


want = listing(subprocess.run(["sh", "-c", LIST, "sh", tree], check=True, stdout=subprocess.PIPE).stdout)
modes = subprocess.run(["sh", "-c", 'cd "$1"; stat -c %a a closed closed/in', "sh", tree], check=True, stdout=subprocess.PIPE).stdout
digest = subprocess.run(["sha256sum", os.path.join(tree, "large")], stdout=subprocess.PIPE, check=True).stdout.split()[0]
plain = named("plain.tar")
for packer, name in (([], "plain.tar"), (["gzip", "-c"], "packed"), (["xz", "-c0"], "named.anything"), (["bzip2", "-c"], "t.tbz"), (["zstd", "-qc"], "t.tar.zst")):
    with open(named(name), "wb") as file:
        if packer:
            subprocess.run(packer + [plain], stdout=file, check=True)
        else:
            subprocess.run(["tar", "-cSf", "-", "-C", tree, "."], stdout=file, check=True)
    run = pinfold("run", "--input", named(name) + ":sub/in:unpack", *host, LIST, "sh", "/scratch/sub/in")
    is_(listing(run.out), want, f"tar by {packer or 'itself'}: types, modes, links, sizes, targets and times", run)
run = pinfold("run", "--input", plain + ":in:unpack", *host,
              "cd in; stat -c %a a closed closed/in; a/run.sh now; du -k sparse; test linked -ef a/again && echo same; "
              "dd if=sparse bs=1 skip=33554432 count=6 2>/dev/null; echo; sha256sum < large; echo more > a/new && echo writable; id -u; stat -c %u . a/file")
own = run.out.split()[-1]
is_(run.out.replace(digest, b"DIGEST"), modes + b"ran now\n4\tsparse\nsame\nmiddle\nDIGEST  -\nwritable\n" + b"\n".join([own] * 3) + b"\n",
    "contents, holes, folders' modes; all belongs to the program", run)
for form in ("pax", "ustar", "v7"):
    subprocess.run(["tar", f"--format={form}", "-cf", named("form"), "-C", tree, "a", "linked", "empty"], check=True)
    run = pinfold("run", "--input", named("form") + ":in:unpack", *host, "cat in/a/file in/a/again; ls in")
    is_(run.out, b"contents\none\na\nempty\nlinked\n", f"the {form} format", run)
run = pinfold("run", "--input", plain + ":.:unpack", "--workdir", "/scratch/a", *host, "ls; ls -A /scratch | wc -l")
is_(run.out, b"again\nfile\nlink\nrun.sh\n9\n".replace(b"9", str(len(os.listdir(tree)) + 1).encode()), "the destination . takes what the archive has at its top", run)
run = pinfold("run", "--input-ro", plain + ":in:unpack", *host, "cat /run/input/in/a/file; echo x > /run/input/in/a/file; ls -A /scratch")
ok(run.out == b"contents\n" and b"Read-only file system" in run.err, "--input-ro has the same option", run)
side = tmpdir()
with open(os.path.join(side, "file"), "wb") as file:
    file.write(b"contents\n")
run = pinfold("run", "--input", plain + ":x:unpack", "--input", plain + ":y", "--input", side + ":z", "--input", plain + ":w:unpack", *host,
              "cmp x/large w/large && tar -tf y | wc -l && cat z/file")
is_(run.out, b"14\ncontents\n", "beside the file as it is, a folder, and another archive", run)

# ---- zip ----
zipped = named("zipped")
with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
    archive.write(os.path.join(tree, "large"), "d/large")
    archive.write(os.path.join(tree, "a/run.sh"), "d/run.sh")
    archive.writestr("gr\u00fc\u00df", "umlaut\n")
    link = zipfile.ZipInfo("d/link")
    link.create_system, link.external_attr = 3, 0o120777 << 16
    archive.writestr(link, "../etc/passwd")
    archive.writestr(zipfile.ZipInfo("only/"), b"")
run = pinfold("run", "--input", zipped + ":z:unpack", *host, "cd z; sha256sum < d/large; sh d/run.sh zip; readlink d/link; cat gr*; ls; stat -c %a d/run.sh")
is_(run.out, digest + b"  -\nran zip\n../etc/passwd\numlaut\nd\ngr\xc3\xbc\xc3\x9f\nonly\n755\n", "zip: files, modes, links, names of UTF-8", run)
with zipfile.ZipFile(named("nothing"), "w"):
    pass
is_(pinfold("run", "--input", named("nothing") + ":z:unpack", *host, "ls -A z; echo empty").out, b"empty\n", "a zip file of nothing")


# ---- the order of entries ----
def tar(name, *entries, mode="w"):
    """entries: (name, data or None, what else a TarInfo has)."""
    with tarfile.open(named(name), mode) as archive:
        for entry, data, more in entries:
            info = tarfile.TarInfo(entry)
            info.mtime = TIME
            for key, value in more.items():
                setattr(info, key, value)
            info.size = len(data or b"")
            archive.addfile(info, io.BytesIO(data or b""))
    return named(name)


DIR, LNK, SYM = {"type": tarfile.DIRTYPE}, {"type": tarfile.LNKTYPE}, {"type": tarfile.SYMTYPE}
odd = tar("odd", ("deep/er/file", b"1", {}), ("other/x", b"x", {}), ("deep/second", b"2", {}), ("deep", None, dict(DIR, mode=0o500)), ("deep/er/third", b"3", {}),
          ("other/x", b"last", {"mode": 0o600}), ("deep/er/hard", None, dict(LNK, linkname="./deep/er/file")), (".//other/./y/", None, dict(DIR, mode=0)))
run = pinfold("run", "--input", odd + ":o:unpack", *host, "cd o; cat deep/er/file deep/second deep/er/third; echo; cat other/x; echo; stat -c '%a %n %Y' deep deep/er other other/x other/y; test deep/er/hard -ef deep/er/file && echo hard")
is_(run.out, f"123\nlast\n500 deep {TIME}\n755 deep/er {TIME}\n755 other {TIME}\n600 other/x {TIME}\n0 other/y {TIME}\nhard\n".encode(),
    "folders after what is in them, and again; of two entries of one name the last one counts", run)


# ---- limits ----
def refused(options, words, name):
    result = pinfold("run", *options, tiny(), "/bin/payload", "exit", "0")
    ok(result.status == "refused" and result.code == 125 and result.result["cause"]["stage"] == "inputs" and all(word in result.message for word in words), name, result)
    return result


run = refused(["--scratch", "3M", "--input", named("packed") + ":x:unpack"], ["3145728 bytes (3 MiB)", "raise --scratch"], "what is larger than the scratch is refused, with the figures")
is_(run.result["cause"]["evidence"].get("input"), named("packed"), "the result says which input it was")
with open(named("packed"), "rb") as whole, open(named("cut"), "wb") as cut:
    cut.write(whole.read()[:-2000])
log = os.path.join(tmpdir(), "audit")
run = pinfold("run", "--audit", log, "--scratch", "13M", "--input", named("plain.tar") + ":y", "--input", named("cut") + ":x:unpack", tiny(), "/bin/payload", "exit", "0")
with open(log, encoding="utf-8") as file:
    rows = [json.loads(line) for line in file]
is_([(row["kind"], row["name"]) for row in rows if row["event"] == "denied"], [("input", named("cut"))], "one that is refused only while it is copied is a denial in the audit", str(rows))
blob = put("blob", bytes(2 * MIB))
refused(["--scratch", "5M", "--input", blob, "--input", named("packed") + ":x:unpack"], ["3145728 bytes"], "what other inputs take is not there for it")
refused(["--scratch", "6M", "--input", named("packed") + ":x:unpack", "--input", named("packed") + ":y:unpack"], ["raise --scratch"], "nor what another archive took")
is_(pinfold("run", "--scratch", "4M", "--input", named("packed") + ":x:unpack", tiny(), "/bin/payload", "exit", "3").code, 3, "what fits goes in; holes cost nothing")
many = tar("many", *[(f"f{n}", b"", {}) for n in range(15)])
is_(pinfold("run", "--scratch-inodes", "16", "--input", many + ":x:unpack", tiny(), "/bin/payload", "exit", "3").code, 3, "just as many names as fit")
refused(["--scratch-inodes", "16", "--input", tar("more", *[(f"f{n}", b"", {}) for n in range(16)]) + ":x:unpack"], ["15 files and folders", "--scratch-inodes"], "and no more")
run = pinfold("run", "--scratch", "8M", "--input", named("packed") + ":x:unpack", tiny(), "/bin/payload", "tmpfs", "8M")
ok(b"ENOSPC" in run.out and int(run.out.split()[1]) < 5 * MIB, "it takes its share of the scratch", run)
is_(pinfold("run", "--input", tar("deep", ("/".join(["d"] * 255) + "/f", b"", {})) + ":x:unpack", tiny(), "/bin/payload", "exit", "3").code, 3, "256 folders deep")
refused(["--input", tar("deeper", ("/".join(["d"] * 256) + "/f", b"", {})) + ":x:unpack"], ["deeper than 256"], "and no deeper")

# ---- what is asked for ----
refused(["--input", tree + ":x:unpack"], ["a folder"], "a folder is no archive")
refused(["--input", os.path.join(tree, "large") + ":x:unpack"], ["no tar or zip archive"], "nor is any file")
refused(["--input", put("none", b"") + ":x:unpack"], ["no tar or zip archive"], "nor nothing")
refused(["--input", named("lacking") + ":x:unpack"], ["No such file"], "a file that is not there")
refused(["--input", named("cut") + ":x:unpack"], [named("cut"), "truncated"], "one that was cut off")
secret = os.path.join(tmpdir(), "keys")
os.mkdir(secret)
shutil.copy(plain, secret)
run = pinfold("run", "--input", secret + "/plain.tar:x:unpack", tiny(), "/bin/payload", "exit", "0", env={"PINFOLD_SENSITIVE": secret})
ok(run.status == "refused" and f"lies in {secret} (on the caller's own list)" in run.message, "an archive in a sensitive place is as sensitive", run)
for words, text in (("a.tar:unpack", "SRC:DST:unpack"), ("a.tar:../x:unpack", "relative path"), (":x:unpack", "source is missing"), ("a.tar::unpack", "relative path")):
    run = pinfold("run", "--input", words, tiny(), "/bin/payload")
    ok(run.status == "refused" and text in run.message, f"{words} is refused", run)
run = pinfold("run", *[word for n in range(9) for word in ("--input", f"{plain}:x{n}:unpack")], tiny(), "/bin/payload")
ok(run.status == "refused" and "8 inputs" in run.message, "and a ninth archive", run)
spec = named("spec.json")
with open(spec, "w", encoding="utf-8") as file:
    json.dump({"image": "@host", "command": ["cat", "in/a/file"], "inputs": {"copy": [plain + ":in:unpack"]}}, file)
is_(pinfold("run", "--spec", spec).out, b"contents\n", "a spec has the same text")
run = pinfold("explain", "--input", plain + ":in:unpack", tiny(), "/bin/payload")
ok(run.code == 0 and f"what is in {plain} to /scratch/in\n".encode() in run.out, "explain says what it is", run)
done()
