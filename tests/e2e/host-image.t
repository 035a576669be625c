#!/usr/bin/python3
"""@host shows the host's /usr read-only and nothing else of the host; a path that is the host's root, a home folder or another
sensitive place is refused as an image, however it is spelled."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *


def shell(script, *args):
    return pinfold("run", *args, "@host", "sh", "-c", script)


run = shell("ls /; ls /etc /etc/ssl")
is_((run.status, run.code), ("exited", 0), "a shell of the host runs", run)
names = set(run.out.decode().split())
ok({"usr", "etc", "proc", "dev", "tmp", "run", "scratch", "sys"} <= names, "the folders that must be there are", run)
beside = {name for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32") if os.path.lexists("/" + name)}
ok(beside <= names, "what stands beside /usr on the host is there", run)
allowed = {"/:", "/etc:", "/etc/ssl:", "usr", "etc", "proc", "dev", "tmp", "run", "scratch", "sys", *beside,
           "alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "timezone", "ssl", "pki", "certs",
           "passwd", "group", "hosts", "resolv.conf", "hostname"}
is_(names - allowed, set(), "nothing else of the host is", run)

run = shell("for p in /home /root /var /boot /mnt /media /opt /srv /etc/shadow /etc/ssl/private /etc/ssh /etc/machine-id "
            "/etc/fstab; do [ -e $p ] && echo $p; done; ls -A /run; exit 0")
is_(run.out, b"", "no home, no /var, no sockets, no other configuration", run)

run = shell("echo x > /usr/x; echo x > /usr/bin/x; echo x > /etc/alternatives/x; echo x > /etc/ld.so.cache; echo x > /x; "
            "for p in /usr /etc /etc/alternatives /; do touch $p 2>&1; done; exit 0")
is_(run.out.decode().count("Read-only file system"), 4, "all of it is read-only", run)
is_(run.err.decode().count("Read-only file system"), 5, "and cannot be written to", run)

zone = os.path.realpath("/etc/localtime") if os.path.exists("/etc/localtime") else None
if zone:
    want = subprocess.run(["date", "+%Z %z"], env={"PATH": os.environ["PATH"]}, stdout=subprocess.PIPE, check=True).stdout
    is_(shell("date '+%Z %z'").out, want, "the host's time zone")
if os.path.exists("/etc/ssl/certs/ca-certificates.crt"):
    is_(shell("head -c 27 /etc/ssl/certs/ca-certificates.crt").out, b"-----BEGIN CERTIFICATE-----", "the host's CA certificates")
run = shell("python3 -c 'import ssl, json, threading; print(json.dumps(1))'") if os.path.exists("/usr/bin/python3") else None
if run:
    is_(run.out, b"1\n", "a program of the host with its libraries", run)
is_(shell("cat /proc/sys/user/max_inotify_instances").out, b"0\n", "no inotify, which would tell of the host's other users")

run = shell("id -un; id -gn; echo $HOME; echo x > ~/x && cat ~/x; getent passwd 60002 | cut -d: -f6", "--uid", "60002") \
    if WHO == "user" else shell("id -un; id -gn; echo $HOME; echo x > ~/x && cat ~/x; getent passwd 1000 | cut -d: -f6")
is_(run.out.decode().split("\n"), ["user", "user", "/scratch", "x", "/scratch", ""], "the program's id has a name and a home", run)

# ---- images that are none ----
places = ["/", "//", "/usr/..", "/proc/self/root", "/usr", "/bin", "/etc", "/etc/ssl", "/proc", "/proc/self", "/sys", "/dev",
          "/run", "/run/lock", "/run/user", "/tmp", "/var", "/var/lib", "/var/lib/dpkg", "/var/lib/dpkg/info", "/var/lib/systemd",
          "/var/backups", "/var/cache/apt", "/var/log", "/var/log/apt", "/home", "/boot", "/dev/pts", "/dev/shm", "/dev/mqueue",
          "/lost+found", "/media", "/mnt", "/opt", "/srv", "/usr/share", "/usr/include", "/usr/local/bin", "/var/run/lock"]
links = tmpdir()
os.symlink("/etc", os.path.join(links, "etc"))
os.symlink("/", os.path.join(links, "root"))
os.mkdir(os.path.join(links, ".ssh"))
places += [os.path.join(links, name) for name in ("etc", "root", "root/usr", ".ssh")]
for place in places:
    if os.path.isdir(place):
        run = pinfold("run", place, "true")
        is_((run.status, run.code, run.out), ("refused", 125, b""), f"{place} is refused", run)
        ok("is refused as an image: " in run.message, f"{place}: the message says why", run)
run = pinfold("run", "/", "true")
ok("@host" in run.message, "/: the message names what to use", run)
for place, cwd in ((".", "/etc"), ("../etc", "/usr"), ("etc", "/"), ("./usr", "/")):
    run = pinfold("run", place, "true", cwd=cwd)
    is_((run.status, run.code), ("refused", 125), f"{place} in {cwd} is refused", run)

for place, says in ((links + "/none", "no such folder"), (payload_path(), "not a folder"), ("no-such-image", "no stored image")):
    run = pinfold("run", place, "true")
    is_((run.status, run.code), ("refused", 125), f"{os.path.basename(place)} is refused", run)
    ok(says in run.message, f"{os.path.basename(place)}: {says}", run)
if WHO == "user":
    closed = tmpdir("root", 0o700) if os.geteuid() == 0 else None
    if closed:
        os.mkdir(os.path.join(closed, "tree"))
        run = pinfold("run", os.path.join(closed, "tree"), "true")
        is_((run.status, run.code), ("refused", 125), "an image behind a closed folder is refused", run)
        ok(f"no permission to search {closed}" in run.message, "the message names the closed folder", run)
done()
