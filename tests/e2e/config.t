#!/usr/bin/python3
"""The configuration files: who has the last word, ceilings that no run may exceed, files that others could have written refused,
and explain says where each value came from."""
import atexit
import json
import os
import re
import shutil
import sys

import jsonschema

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *
import pf

payload = [tiny(), "/bin/payload"]
home = tmpdir()
USER = {"XDG_CONFIG_HOME": home}
SLOTS = f"1:config-{os.getpid()}"
FILE = f"/run/pinfold/slots-config-{os.getpid()}"  # root's
atexit.register(lambda: os.path.exists(FILE) and os.unlink(FILE))
with open(os.path.join(ROOT, "docs/config.schema.json"), encoding="utf-8") as opened:
    SCHEMA = json.load(opened)
# This validator does not join a fragment to a urn: the references within the other schema are made whole.
OTHER = json.loads(json.dumps(load_schema("spec").schema).replace('"$ref": "#/', '"$ref": "urn:pinfold:spec:1#/'))
judge = jsonschema.Draft202012Validator(SCHEMA, resolver=jsonschema.RefResolver("urn:pinfold:config:1", SCHEMA, store={"urn:pinfold:spec:1": OTHER}))


def write(base, text, mode=0o644):
    """pinfold/config.json below base, as the text or the object says; it belongs to whom base does."""
    folder = os.path.join(base, "pinfold")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "config.json")
    if os.path.lexists(path):
        os.unlink(path)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text if isinstance(text, str) else json.dumps(text))
    os.chmod(path, mode)
    owner = os.stat(base)
    for name in folder, path:
        os.chown(name, owner.st_uid, owner.st_gid)
    return path


def settings(run):
    """{key: (who, value)} of explain."""
    text = re.search(r"^settings .*?(?=^mounts )", run.out.decode(), re.M | re.S)[0]
    rows = re.findall(r"^(?:settings)? +(\S+) +((?:default|host|user|spec file|flag|, )+) +(.*)$", text, re.M)
    return {name: (who, value) for name, who, value in rows}


# ---- the user's file ----
write(home, {"defaults": {"memory": "300M", "wall": "7s", "env": ["A=user", "B=user"], "pids": 50}})
spec = os.path.join(home, "spec.json")
with open(spec, "w", encoding="utf-8") as file:
    json.dump({"wall": "8s", "pids": 60, "env": ["B=spec"]}, file)
run = pinfold("explain", "--spec", spec, "--pids", "70", "--env", "C=flag", *payload, "exit", "0", env=USER)
rows = settings(run)
is_({name: rows.get(name) for name in ("memory", "wall", "pids", "cpus")},
    {"memory": ("user", "300M"), "wall": ("spec file", "8s"), "pids": ("flag", "70"), "cpus": ("default", "1")},
    "explain says where each value came from", run)
is_(rows["env"], ("user, spec file, flag", '["A=user","B=spec","C=flag"]'), "what can be given more than once adds up")
like(run.out.decode(), rf"(?m)^user file +{re.escape(home)}/pinfold/config\.json$", "and names the file")
run = pinfold("run", "--wall", "9s", *payload, "exit", "3", env=USER)
is_((run.code, run.guarantee("memory")["requested"], run.guarantee("wall")["requested"]), (3, "300M", "9s"), "run goes by it", run)
run = pinfold("run", *payload, "exit", "3", env={"HOME": home})
is_(run.guarantee("memory")["requested"], "512M", "without XDG_CONFIG_HOME it is not read from there", run)
os.makedirs(os.path.join(home, ".config"))
write(os.path.join(home, ".config"), {"defaults": {"memory": "200M"}})
owner = os.stat(home)
os.chown(os.path.join(home, ".config"), owner.st_uid, owner.st_gid)
write(os.path.join(home, ".config"), {"defaults": {"memory": "200M"}})
run = pinfold("run", *payload, "exit", "3", env={"HOME": home})
is_(run.guarantee("memory")["requested"], "200M", "but from ~/.config", run)
result = os.path.join(home, "r.json")
write(home, {"defaults": {"result": result, "id": "configured"}})
run = pinfold("run", *payload, "exit", "3", env=USER, result=False)
ok(run.code == 3 and json.load(open(result, encoding="utf-8"))["id"] == "configured", "any key may have a default", run)

# ---- what is wrong with it is refused, with its place, and a result all the same ----
for text, message in (('{"defaults": {\n  "memroy": 1}}', r'config\.json:2:3: unknown key \'memroy\'; did you mean "memory"\?'),
                      ('{"defaults": ', r"config\.json:1:\d+: "), ("[]", r"config\.json:1:1: a configuration is an object"), ("", r"config\.json:1:1: "),
                      ('{"ceilings": {}}', r"config\.json:1:2: ceilings: this is the host's to say"),
                      ('{"defaults": {"command": ["x"]}}', r"config\.json:1:15: command is for each run to say"),
                      ('{"defaults": {"pids": 1, "pids": 2}}', r"config\.json:1:\d+: .*twice")):
    write(home, text)
    run = pinfold("run", *payload, "echo", "ran", env=USER)
    is_((run.code, run.status, run.out, run.result["cause"]["stage"]), (125, "refused", b"", "spec"), f"refused: {text[:30]!r}", run)
    like(run.message, message, "with its place")
    is_(pinfold("explain", *payload, "echo", env=USER).code, 125, "by explain too")
run = pinfold("doctor", "--json", env=USER)
told = json.loads(run.out)
is_((run.code, told["possible"], told["configuration"]["user"]), (125, False, os.path.join(home, "pinfold/config.json")), "doctor tells of it", run)
like(told["configuration"]["refused"] or "", r"config\.json:1:\d+: .*twice", "and why")
path = write(home, {"defaults": {"memory": "300M"}}, mode=0o666)
run = pinfold("run", *payload, "echo", "ran", env=USER)
is_((run.status, run.out), ("refused", b""), "a file that others may write: refused", run)
like(run.message, r"may be written by others \(mode 0666; chmod go-w\)", "with the way out")
if os.geteuid() == 0:
    write(home, {"defaults": {"memory": "300M"}})
    os.chown(path, 65534, 65534)
    run = pinfold("run", *payload, "echo", "ran", env=USER)
    is_((run.status, run.out), ("refused", b""), "a file of another user's: refused", run)
    like(run.message, r"belongs to uid 65534, not to ", "and says whose it is")
os.unlink(path)
if WHO == "user" and os.geteuid() == 0:
    write(home, {"defaults": {"memory": "300M"}}, mode=0o000)
    os.chown(path, 0, 0)
    run = pinfold("run", *payload, "echo", "ran", env=USER)
    is_((run.status, run.out), ("refused", b""), "a file that is there and cannot be read: refused", run)
    os.unlink(path)
    run = pinfold("run", *payload, "exit", "3", env={"HOME": tmpdir(user="root", mode=0o700)})
    is_(run.code, 3, "another user's home, which cannot be entered, has none", run)
else:
    skip("needs an ordinary user", "files that cannot be read")
os.mkfifo(path)
run = pinfold("run", *payload, "echo", "ran", env=USER)
is_((run.status, run.out), ("refused", b""), "a FIFO in its place: refused, and not waited for", run)
os.unlink(path)
run = pinfold("run", *payload, "exit", "3", env=USER)
is_(run.code, 3, "no file is none", run)

# ---- the schema, and the manual page ----
for document, good in (({}, True), ({"defaults": {"memory": "1G", "egress": {"bytes": 1}}, "sensitive-paths": ["/a"]}, True),
                       ({"ceilings": {"memory": "8G", "cpus": 4, "egress": {"bytes": "1G"}}, "slots": "4:host", "audit": "syslog"}, True),
                       ({"frob": 1}, False), ({"defaults": {"image": "x"}}, False), ({"ceilings": {"hostname": "x"}}, False),
                       ({"ceilings": {"egress": {"allow": []}}}, False), ({"audit": "log"}, False), ({"input-base": "x"}, False), ({"slots": 0}, False)):
    is_(judge.is_valid(document), good, f"the schema takes or refuses {json.dumps(document)[:60]}")
with open(os.path.join(ROOT, "docs/man/pinfold-config.5"), encoding="utf-8") as file:
    page = file.read()
manual = re.search(r"^\.SH MEMBERS\n(.*?)^\.SH", page.replace("\\-", "-"), re.M | re.S)[1]
is_(sorted(re.findall(r"^\.TP\n\.B (\S+)$", manual, re.M)), sorted(SCHEMA["properties"]), "the manual page has every member")
example = json.loads(re.search(r"\.EX\n(.*?)\.EE", page, re.S)[1].replace("\\-", "-"))
is_([e.message for e in judge.iter_errors(example)], [], "and its example is valid")

# ---- the host's file ----
if os.geteuid() != 0:
    skip("needs root", "the host's file")
    done()
# A mount namespace whose /etc is a copy, so that the host's own stays as it is.
copy = os.path.join(pf.base_folder(), "etc")
shutil.copytree("/etc", copy, symlinks=True, ignore_dangling_symlinks=True, ignore=lambda folder, names: ["ssl", "shadow", "gshadow"] if folder == "/etc" else [])
WITHIN = ("unshare", "-m", "sh", "-ec", f'mount --bind {copy} /etc; exec "$@"', "sh")
host = write(copy, {"defaults": {"wall": "50s", "pids": 40}, "ceilings": {"memory": "256M", "wall": "1m", "egress": {"bytes": "1M"}}})
write(home, {"defaults": {"pids": 30}})
run = pinfold("explain", *payload, "exit", "0", env=USER, within=WITHIN)
rows = settings(run)
is_({name: rows.get(name) for name in ("memory", "scratch", "wall", "pids", "egress-bytes")},
    {"memory": ("default", "256M"), "scratch": ("default", "256M"), "wall": ("host", "50s"), "pids": ("user", "30"), "egress-bytes": ("default", "1M")},
    "the host's defaults, the user's over them, and ceilings that lower what nobody said", run)
like(run.out.decode(), r"(?m)^host file +/etc/pinfold/config\.json\n +memory at most 256M\n +wall at most 1m\n +egress-bytes at most 1M$", "explain shows the ceilings")
run = pinfold("run", *payload, "exit", "3", env=USER, within=WITHIN)
is_((run.code, run.guarantee("memory")["requested"], run.guarantee("wall")["requested"]), (3, "256M", "50s"), "run goes by them", run)
for words, message in ((["--memory", "257M"], "memory 257M (flag) is more than the host allows: 256M in /etc/pinfold/config.json"),
                       (["--memory", "none"], "memory none (flag) is more than the host allows"),
                       (["--wall", "61s"], "wall 61s (flag) is more than the host allows: 1m"),
                       (["--egress-bytes", "2M"], "egress-bytes 2M (flag) is more than the host allows: 1M")):
    run = pinfold("run", *words, *payload, "echo", "ran", env=USER, within=WITHIN)
    is_((run.code, run.status, run.out), (125, "refused", b""), f"{' '.join(words)} exceeds a ceiling: refused", run)
    ok(message in run.message, "with both figures and the file", run)
run = pinfold("run", "--memory", "256M", "--wall", "1m", *payload, "exit", "3", env=USER, within=WITHIN)
is_(run.code, 3, "the ceilings themselves are allowed", run)
write(home, {"defaults": {"memory": "1G"}})
run = pinfold("run", *payload, "echo", "ran", env=USER, within=WITHIN)
like(run.message, r"memory 1G \(user\) is more than the host allows", "the user's file is held to them")
write(home, {})

log = os.path.join(tmpdir(), "host.log")
write(copy, {"slots": SLOTS, "audit": log, "sensitive-paths": ["/srv/x"], "input-base": "/srv"})
own = os.path.join(tmpdir(), "own.log")
run = pinfold("run", "--audit", own, *payload, "exit", "3", env={**USER, "XDG_RUNTIME_DIR": tmpdir(mode=0o700)}, within=WITHIN)
is_(run.code, 3, "slots and an audit for every run", run)
for where in log, own:
    with open(where, "rb") as file:
        is_([pf.parse(line, "audit")["event"] for line in file], ["start", "end"], f"recorded in {os.path.basename(where)}")
run = pinfold("run", "--slots", "9", *payload, "echo", "ran", env=USER, within=WITHIN)
is_((run.status, run.out), ("refused", b""), "what the host says for every run no run may say", run)
like(run.message, r"--slots: /etc/pinfold/config\.json says this for every run; leave it out", "in words")
run = pinfold("explain", *payload, "exit", "0", env=USER, within=WITHIN)
like(run.out.decode(), rf"(?m)^ +slots +host +\"{SLOTS}\" \(for every run\)$", "explain says so")
like(run.out.decode(), rf"(?m)^audit +{re.escape(log)} \(of every run\)\ninputs from +/srv alone\nno input of +/srv/x$", "and the rest")

# ---- where inputs may come from: every base holds, and the lists add up ----
place = tmpdir()
for name in ("host/user/var", "host/other", "elsewhere", "host/user/hostkeys", "host/user/mykeys"):
    os.makedirs(os.path.join(place, name))
    with open(os.path.join(place, name, "file"), "w", encoding="ascii") as file:
        file.write("in\n")
HOST, MINE, VAR = (os.path.join(place, name) for name in ("host", "host/user", "host/user/var"))


def take(name, **env):
    return pinfold("run", "--input", os.path.join(place, name) + ":x", tiny(), "/bin/payload", "cat", "/scratch/x/file", env={**USER, **env}, within=WITHIN)


def kept_out(name, message, title, **env):
    got = take(name, **env)
    is_((got.code, got.status, got.out, got.result["cause"]["stage"]), (125, "refused", b"", "inputs"), title, got)
    ok(message in got.message, "for that reason", got)


write(copy, {"input-base": HOST})
is_(take("host/other").out, b"in\n", "what lies in the host's base goes in")
kept_out("elsewhere", f"does not lie in {HOST}, where inputs must", "what does not is refused")
kept_out("elsewhere", f"does not lie in {HOST}, where inputs must", "the variable does not move the host's base", PINFOLD_INPUT_BASE=place)
kept_out("host/other", f"does not lie in {MINE}, where inputs must", "but asks for more", PINFOLD_INPUT_BASE=MINE)
write(home, {"input-base": place})
kept_out("elsewhere", f"does not lie in {HOST}, where inputs must", "nor does the user's file")
write(home, {"input-base": MINE})
kept_out("host/other", f"does not lie in {MINE}, where inputs must", "which asks for more too")
kept_out("host/user/mykeys", f"does not lie in {VAR}, where inputs must", "as the variable does beside both", PINFOLD_INPUT_BASE=VAR)
is_(take("host/user/var", PINFOLD_INPUT_BASE=VAR).out, b"in\n", "what lies in all three goes in")
run = pinfold("explain", *payload, "exit", "0", env=USER, within=WITHIN)
like(run.out.decode(), rf"(?m)^inputs from +{re.escape(HOST)} alone\ninputs from +{re.escape(MINE)} alone$", "explain shows both")
write(copy, {"input-base": "/nowhere"})
kept_out("host/user/var", "/nowhere", "a base that is not there opens nothing")
write(copy, {"sensitive-paths": ["/nowhere", os.path.join(place, "host/user/hostkeys")]})
write(home, {"sensitive-paths": [os.path.join(place, "host/user/mykeys")]})
is_(take("host/other", PINFOLD_SENSITIVE=VAR).out, b"in\n", "what is on no list goes in")
for name in "hostkeys", "mykeys":
    kept_out(f"host/user/{name}", "on the list of a configuration file", f"{name} does not", PINFOLD_SENSITIVE=VAR)
kept_out("host/user/var", "on the caller's own list", "nor what the variable names", PINFOLD_SENSITIVE=VAR)
kept_out("host/user", "it holds", "nor what holds one")
if WHO == "user":
    shut = tmpdir(user="root", mode=0o700)
    os.mkdir(os.path.join(shut, "x"))
    write(copy, {"sensitive-paths": [os.path.join(shut, "x")]})
    write(home, {})
    is_(take("host/other").out, b"in\n", "a place of the host's list that this user cannot reach keeps nothing else out")
else:
    skip("needs an ordinary user", "a place that cannot be reached")
write(home, {})
write(copy, {"audit": "/nowhere/log"})
run = pinfold("run", *payload, "echo", "ran", env=USER, within=WITHIN)
is_((run.status, run.out, run.result["cause"]["stage"]), ("refused", b"", "audit"), "a host's audit that cannot be written: nothing runs", run)


def refused(name, message):
    got = pinfold("run", *payload, "echo", "ran", env=USER, within=WITHIN)
    is_((got.code, got.status, got.out), (125, "refused", b""), f"{name}: refused", got)
    like(got.message, message, "in words")


write(copy, {}, mode=0o664)
refused("a host's file that its group may write", r"/etc/pinfold/config\.json may be written by others")
host = write(copy, {})
os.chown(host, 1000, 0)
refused("a host's file that is not root's", r"belongs to uid 1000, not to root")
write(copy, {})
os.chmod(os.path.dirname(host), 0o775)
refused("a folder that others may write", r"/etc/pinfold may be written by others")
os.chmod(os.path.dirname(host), 0o755)
os.unlink(host)
os.symlink(spec, host)
refused("a link in its place", r"open /etc/pinfold/config\.json: ")
if WHO == "user":
    write(copy, {}, mode=0o600)
    refused("a host's file that cannot be read", r"open /etc/pinfold/config\.json: Permission denied")
else:
    skip("needs an ordinary user", "a host's file that cannot be read")
os.unlink(host)
is_(pinfold("run", *payload, "exit", "3", env=USER, within=WITHIN).code, 3, "no file is none")
done()
