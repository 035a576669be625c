#!/usr/bin/python3
"""--propose drafts a job: the language that there is most of, its file to begin with, the hosts that were found, limits; `job check` takes each draft."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *
from scans import *

JOBS = b"\n  job " in pinfold("help").out


def draft(what, files):
    where = tree(files)
    run = scan_text(where, "--propose")
    is_(run.code, 0, f"{what}: a draft", run)
    document = json.loads(run.out)
    is_((document["source"], document["analyse"]), ({"folder": where}, {"gate": "error"}), f"{what}: of that folder, behind a gate")
    if JOBS:
        path = os.path.join(tmpdir(), "job.json")
        with open(path, "wb") as file:
            file.write(run.out)
        checked = pinfold("job", "check", path)
        is_(checked.code, 0, f"{what}: `job check` takes it", checked)
    return document["stages"]


for what, files, stages in (
        ("Python", {"lib/a.py": b"", "main.py": b"x = 1\n"}, [["python3", "./main.py"]]), ("a single script", {"solve.py": b"print(1)\n"}, [["python3", "./solve.py"]]),
        ("C", {"main.c": b"int main(void) { return 0; }\n", "x.sh": b"ls\n"}, [["cc", "-O2", "-Wall", "-o", "program", "./main.c"], ["./program"]]),
        ("C++", {"src/main.cpp": b"int main() {}\n"}, [["c++", "-O2", "-Wall", "-o", "program", "./src/main.cpp"], ["./program"]]),
        ("C#", {"Program.cs": b"class P { static void Main() {} }\n"}, [["mcs", "-out:program.exe", "./Program.cs"], ["mono", "program.exe"]]),
        ("JavaScript", {"index.js": b"console.log(1);\n"}, [["node", "./index.js"]]), ("TypeScript", {"index.ts": b"let a: number = 1;\n"}, [["tsc", "--outDir", "out", "./index.ts"], ["node", "out/index.js"]]),
        ("TypeScript elsewhere", {"src/main.ts": b"let a: number = 1;\n"}, [["tsc", "--outDir", "out", "./src/main.ts"], ["node", "out/main.js"]]),
        ("a class of another name", {"App.java": b"class App {}\n"}, [["javac", "-d", "classes", "./App.java"], ["java", "-cp", "classes", "App"]]),
        ("a Makefile beside it", {"Makefile": b"all:\n\tls\n" * 99, "run.py": b"x = 1\n"}, [["python3", "./run.py"]]),
        ("a Makefile larger than the script", {"Makefile": b"all:\n\tls\n" * 99, "run.sh": b"ls\n", "main.py": b"x = 1\n" * 9}, [["python3", "./main.py"]]),
        ("Java", {"Main.java": b"class Main {}\n"}, [["javac", "-d", "classes", "./Main.java"], ["java", "-cp", "classes", "Main"]]),
        ("shell", {"run.sh": b"ls\n"}, [["sh", "./run.sh"]]), ("nothing to run", {"data.csv": b"1\n"}, [["true"]])):
    got = draft(what, files)
    is_([stage["command"] for stage in got], stages, f"{what}: its commands")
    ok(all(key in got[-1] for key in ("memory", "wall", "cpu-time", "pids")), f"{what}: limits for what runs")
    is_([stage.get("egress", {"allow": []})["allow"] for stage in got], [[]] * len(got), f"{what}: no network that it did not ask for")

HOSTS = b"""import requests as r
r.get("https://a.example.org/x")
r.get("http://b.example.org/")
r.get("https://a.example.org/again")
r.get("http:@127.0.0.1:8080/")
r.get("http:@10.1.2.3/")
r.get("http:@172.20.0.1/")
r.get("https://192.0.2.7/")
r.get("https://_no.example.org/")
r.get("https://-no.example.org/")
r.get("https://localhost/")
r.get("https://" + "x" * 9 + ".example.org/")
""".replace(b":@", b"://")
is_(draft("hosts", {"main.py": HOSTS})[0]["egress"]["allow"], ["a.example.org:443", "b.example.org:80,443", "192.0.2.7:443"], "hosts that a rule may name, once each; none that is private")
is_([draft(f"{name}", {"main.py": text})[0]["pids"] for name, text in (("processes", b"import os\nos.system('x')\n"), ("no processes", b""))], [128, 32], "processes, where it starts some")
hostile = draft("a hostile name", {"a\x1b[31m';\".py": b"x = 1\n"})
is_(hostile[0]["command"], ["python3", "./a\x1b[31m';\".py"], "a name is one word of the command, whatever is in it")
is_(draft("an option for a name", {"-c.py": b"x = 1\n"})[0]["command"], ["python3", "./-c.py"], "a name that begins as an option does is none")
is_(draft("no text", {"\udcff.py": b"x = 1\n"})[0]["command"], ["true"], "a name that is no text is in no document")
is_(draft("a file of java's words for a name", {"@words.java": b"class A {}\n", "-jar.java": b"class B {}\n"})[0]["command"], ["true"], "what java would not take for a class is none")
is_(draft("marks in a name", {"@@{a@{n}.py": b"x = 1\n"})[0]["command"], ["python3", "./@@@{a@@{n}.py"], "a name with marks is that name, and no parameter")
single = os.path.join(tree({"run.sh": b"ls\n"}), "run.sh")
run = scan_text(single, "--propose")
is_((json.loads(run.out)["source"], json.loads(run.out)["stages"][0]["command"]), ({"files": [single]}, ["sh", "./run.sh"]), "a single file is a source of files, under its own name", run)
done()
