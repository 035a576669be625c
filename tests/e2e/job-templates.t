#!/usr/bin/python3
"""Each language's template, for real: what is right is built in one image and runs in another, without a compiler, a
network or the sources; what is wrong becomes diagnostics with file, line and what is wrong. Nothing of it needs more
than the template's own limits and the default filter."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
import pf
from jobs import Jobs
from tap import done, is_, like, ok, skip_all

SHOW = os.path.join(pf.BUILD, "tests/pipeline")
IMAGES = [os.path.join(pf.ROOT, "build/rootfs", name) for name in ("languages", "runtimes")]

# language: main file, right, what it prints given "a b", wrong, the row that is looked for (severity, line, column, code, message)
PROGRAMS = {
    "c": ("main.c", '#include <stdio.h>\n#include <math.h>\nint main(int n, char **v) { printf("hello %d %s %.0f\\n", n, v[1], sqrt(n * 3)); }\n',
          "hello 3 a 3\n", "int main(void)\n{\n\treturn missing;\n}\n", ("error", 3, 16, "", "'missing' undeclared")),
    "c++": ("main.cpp", '#include <iostream>\n#include <thread>\nint main(int n, char **v) { std::thread t([&] { std::cout << "hello " << n << " " << v[1] << std::endl; }); t.join(); }\n',
            "hello 3 a\n", "int main()\n{\n  return missing;\n}\n", ("error", 3, 10, "", "'missing' was not declared")),
    "python": ("main.py", 'import sys\nprint("hello", len(sys.argv), sys.argv[1])\n', "hello 3 a\n",
               "def f():\n    return )\n", ("error", 2, 0, "SyntaxError", "unmatched ')'")),
    "c#": ("main.cs", 'using System;\nusing System.Linq;\nclass P { static void Main(string[] a) { Console.WriteLine("hello {0} {1}", 1 + a.Count(), a[0]); } }\n',
           "hello 3 a\n", "class P {\n  static void Main() {\n    missing();\n  }\n}\n", ("error", 3, 5, "CS0103", "`missing' does not exist")),
    "java": ("Main.java", 'public class Main {\n  record R(int n, String s) { }\n  public static void main(String[] a) { var r = new R(1 + a.length, a[0]); System.out.println("hello " + r.n() + " " + r.s()); }\n}\n',
             "hello 3 a\n", "public class Main {\n  public static void main(String[] a) {\n    missing();\n  }\n}\n",
             ("error", 3, 5, "", "cannot find symbol; symbol: method missing()")),
    "javascript": ("main.js", 'console.log("hello", process.argv.length, process.argv[2]);\n', "hello 4 a\n",
                   "function f() {\n  let x = ;\n}\n", ("error", 2, 11, "SyntaxError", "Unexpected token ';'")),
    "rust": ("main.rs", 'fn main() { let a: Vec<String> = std::env::args().collect(); println!("hello {} {}", a.len(), a[1]); }\n', "hello 3 a\n",
             "fn main() {\n    missing();\n}\n", ("error", 2, 5, "E0425", "cannot find function `missing`")),
    "go": ("main.go", 'package main\n\nimport (\n\t"fmt"\n\t"os"\n)\n\nfunc main() { fmt.Println("hello", len(os.Args), os.Args[1]) }\n', "hello 3 a\n",
           "package main\n\nfunc main() {\n\tmissing()\n}\n", ("error", 4, 2, "", "undefined: missing")),
    "shell": ("main.sh", 'echo "hello $# $1"\n', "hello 2 a\n", "if true; then\n  echo x\n)\n", ("error", 3, 0, "syntax-error", "unexpected token `)'")),
}

# What fails in the run stage: the row of it.
FAILURES = {
    "python": ("def f(x):\n    return x[1]\nf([])\n", ("error", 2, "IndexError", "list index out of range")),
    "c#": ("using System;\nclass P { static void Main() { throw new InvalidOperationException(\"no way\"); } }\n",
           ("error", 0, "System.InvalidOperationException", "no way")),
    "java": ("public class Main {\n  public static void main(String[] a) {\n    Integer.parseInt(\"x\");\n  }\n}\n",
             ("error", 3, "java.lang.NumberFormatException", 'For input string: "x"')),
    "javascript": ("function f(x) {\n  return x.y.z;\n}\nf({});\n", ("error", 2, "TypeError", "Cannot read properties")),
    "rust": ("fn main() {\n    let v: Vec<u32> = Vec::new();\n    println!(\"{}\", v[std::env::args().count()]);\n}\n", ("error", 3, "panic", "index out of bounds")),
    "go": ("package main\n\nimport \"os\"\n\nfunc main() {\n\tprintln(os.Args[100])\n}\n", ("error", 6, "panic", "index out of range")),
    "shell": ("echo begin\nnothing-here\nexit 3\n", ("error", 2, "command-not-found", "nothing-here: command not found")),
}

COMPILERS = ("gcc", "cc", "g++", "c++", "clang", "tcc", "cc1", "rustc", "cargo", "go", "gofmt", "javac", "mcs", "csc", "make", "tsc")


def template(which, language, folder, files, version=(), args=()):
    words = [SHOW, "template", which, language, folder, *files, "--", *version, "--", *args]
    shown = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if shown.returncode != 0:
        return shown.stderr.decode()
    return json.loads(shown.stdout)


def rows(kind, output):
    shown = subprocess.run([SHOW, "jailed", kind], input=output, stdout=subprocess.PIPE, check=True)
    found = [line.split("|", 5) for line in shown.stdout.decode().splitlines()]
    return [(level, os.path.basename(name), int(line), int(column), code, message)
            for level, name, line, column, code, message in found]


def sources(text, name):
    folder = os.path.join(pf.tmpdir(), "source")
    os.mkdir(folder, 0o755)
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)
    return folder


def run(stage, image, folder, name, *flags):
    settings = [word for key, value in stage["settings"] for word in (f"--{key}", value)]
    return pf.pinfold("run", *settings, "--input-ro", f"{folder}:{name}", *flags, image, "--", *stage["command"], timeout=280)


def build(language, text, version=()):
    """(Run of the build stage, folder to run from)."""
    name = PROGRAMS[language][0]
    folder = sources(text, name)
    stage = template("build", language, "/run/input/source", [name], version)
    flags, kept = [], None
    if "output" in stage:
        kept = os.path.join(pf.tmpdir(), "built")
        pattern = stage["output"] + ("/*" if stage["output"] == "classes" else "")
        flags = ["--artifact", pattern, "--artifacts-dir", kept]
    made = run(stage, pf.rootfs("languages"), folder, "source", *flags)
    if kept and os.path.isdir(kept):
        # Artifacts are nobody's program until somebody says so; a job's outputs keep their x bit.
        for row in [row for row in made.result["artifacts"] if row["file"]]:
            os.renames(os.path.join(kept, os.path.basename(row["file"])), os.path.join(kept, row["path"]))
        subprocess.run(["chmod", "-R", "a+rX,u+x", kept], check=True)
    return made, stage["says"], kept or folder


def start(language, folder, args):
    stage = template("run", language, "/run/input/program", [PROGRAMS[language][0]], (), args)
    return run(stage, pf.rootfs("runtimes"), folder, "program"), stage["says"]


def runs_right(language):
    _, right, want, _, _ = PROGRAMS[language]
    made, says, folder = build(language, right)
    if not is_((made.status, made.code), ("exited", 0), f"{language}: builds", made):
        return
    is_([row for row in rows(says, made.err) if row[0] == "error"], [], f"{language}: and no error is read from what it said")
    done_, _ = start(language, folder, ("a", "b"))
    is_((done_.status, done_.code, done_.out.decode()), ("exited", 0, want), f"{language}: runs where there is no compiler", done_)


def says_wrong(language):
    name, _, _, wrong, (severity, line, column, code, message) = PROGRAMS[language]
    made, says, _ = build(language, wrong)
    ok(made.status == "exited" and made.code != 0, f"{language}: a program that is wrong is not built", made)
    found = [row for row in rows(says, made.err) if row[0] == severity]
    want = (severity, name, line, column, code)
    ok(found and found[0][:5] == want and message.replace("'", "") in found[0][5].replace("‘", "").replace("’", "").replace("'", ""),
       f"{language}: and the row says where and what", f"got {found}\nwant {want} {message}")


def fails_visibly(language):
    text, (severity, line, code, message) = FAILURES[language]
    made, _, folder = build(language, text)
    ended, says = start(language, folder, ())
    ok(made.code == 0 and ended.status in ("exited", "signaled") and ended.code != 0, f"{language}: what fails fails in the run stage", ended)
    found = rows(says, ended.err)
    ok(any(row[0] == severity and row[2] == line and row[4] == code and message in row[5] for row in found),
       f"{language}: and the row says where and what", f"got {found}\nof {ended.err!r}")


def is_one_command(language):
    """pinfold job run --lang LANGUAGE FILE -- ARGS, with the test's images."""
    name, right, want, wrong, (severity, line, _, code, message) = PROGRAMS[language]
    words = ["--lang", language, "--build-image", pf.rootfs("languages"), "--run-image", pf.rootfs("runtimes")]
    job = jobs.run(None, words=[*words, os.path.join(sources(right, name), name), "--", "a", "b"], timeout=280)
    is_((job.status, job.code, job.out.decode()), ("succeeded", 0, want), f"{language}: one command builds and runs it", job)
    job = jobs.run(None, words=[*words, os.path.join(sources(wrong, name), name)], timeout=280)
    found = [(row["severity"], os.path.basename(row["file"]), row["line"], row["code"]) for row in job.stage("build")["diagnostics"] or []]
    is_((job.status, job.code, job.stage("run")["state"], found[:1]), ("failed", 1, "skipped", [(severity, name, line, code or None)]),
        f"{language}: and says what is wrong where", job)


def refused(name, text, pattern, *words):
    said = template(*words)
    ok(isinstance(said, str), name + ": refused", said)
    like(str(said), pattern, text)


if not all(os.path.isdir(image) for image in IMAGES):
    skip_all("no images with the languages: run scripts/rootfs languages and scripts/rootfs runtimes")

jobs = Jobs()
for lang in PROGRAMS:
    runs_right(lang)
    says_wrong(lang)
    is_one_command(lang)
for lang in FAILURES:
    fails_visibly(lang)

look = pf.pinfold("run", pf.rootfs("runtimes"), "--", "/bin/sh", "-c",
                  'for n in "$@"; do find / -xdev -name "$n" \\( -type f -o -type l \\) -path "*bin/*"; done; true', "sh", *COMPILERS)
is_((look.code, look.out.decode()), (0, ""), "no compiler is in the image that runs", look)

early, says_, _ = build("c", "int main(void) { // a comment\n\treturn 0; }\n", ("c89", "-pedantic-errors"))
ok(early.code == 1, "version and options come through: C of 1989 has no such comments", early)
late, _, _ = build("c", "int main(void) { // a comment\n\treturn 0; }\n", ("c99", "-pedantic-errors"))
is_(late.code, 0, "version and options come through: C of 1999 has", late)
old, says_, _ = build("rust", "async fn f() {}\nfn main() {}\n", ("2015",))
ok(old.code == 1 and any(row[4] == "E0670" for row in rows(says_, old.err)), "an edition comes through", old)
jdk, says_, _ = build("java", PROGRAMS["java"][1], ("8",))
ok(jdk.code == 1 and any("record" in row[5] for row in rows(says_, jdk.err)), "a release comes through: there are no records in 8", jdk)

absent = jobs.run(None, words=["--lang", "c", os.path.join(sources(PROGRAMS["c"][1], "main.c"), "main.c")])
is_((absent.status, absent.code), ("failed", 1), "an image that is not stored", absent)
like(absent.message, "the image c-build is not stored; make it once with `pinfold image build-debian --packages gcc,g\\+\\+,libc6-dev c-build`", "and how it is made is said")
refused("an unknown version", "the versions are named", "is none of C: gnu17, c89", "build", "c", ".", ["main.c"], ["c77"])
refused("a version where there is none", "it says whose it is", "the image's alone", "build", "go", ".", ["main.go"], ["1.19"])
refused("a file of another language", "the extensions are named", "ends with .cpp, .cc, .cxx or .C", "build", "c++", ".", ["main.c"])
refused("a file outside", "it is named", "no name of a file below", "build", "c", ".", ["../main.c"])
refused("an absolute file", "it is named", "no name of a file below", "build", "c", ".", ["/etc/main.c"])
refused("a file that no class is named after", "it is named", "not named after a class", "build", "java", ".", ["my-main.java"])
done()
