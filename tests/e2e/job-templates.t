#!/usr/bin/python3
"""Each language's template, for real: what is right is built in one image and runs in another, without a compiler, a
network or the sources; what is wrong becomes diagnostics with file, line and what is wrong. Nothing of it needs more
than the template's own limits and the default filter."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
import pf
from jobs import Jobs
from tap import done, is_, like, ok, skip_all

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


def run(language, text, name=None, **lang):
    """One job of one file, by the language's template, with the test's images."""
    name = name or PROGRAMS[language][0]
    path = os.path.join(pf.tmpdir(), os.path.basename(name))
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return jobs.run({"source": {"files": [path]}, "analyse": "none",
                     "lang": {"name": language, "files": [name], "build-image": pf.rootfs("languages"), "run-image": pf.rootfs("runtimes"), **lang}},
                    timeout=280)


def rows(job, stage):
    """(severity, file, line, column, code, message) of each diagnostic."""
    return [(row["severity"], os.path.basename(row["file"] or ""), row["line"], row["column"], row["code"], row["message"])
            for row in job.stage(stage)["diagnostics"] or []]


def plain(message):
    """Without quotes, which are other ones in other locales."""
    return message.translate({ord(quote): None for quote in "'‘’`"})


def runs_right(language):
    _, right, want, _, _ = PROGRAMS[language]
    job = run(language, right, args=["a", "b"])
    is_((job.status, job.code, job.out.decode()), ("succeeded", 0, want), f"{language}: is built, and runs where there is no compiler", job)
    is_([row for row in rows(job, "build") if row[0] == "error"], [], f"{language}: and no error is read from what was said")


def says_wrong(language):
    name, _, _, wrong, (severity, line, column, code, message) = PROGRAMS[language]
    job = run(language, wrong)
    is_((job.status, job.code, job.result["cause"]["stage"], job.stage("run")["state"]), ("failed", 1, "build", "skipped"), f"{language}: a program that is wrong does not run", job)
    found = [row for row in rows(job, "build") if row[0] == severity]
    want = (severity, name, line, column or None, code or None)
    ok(found and found[0][:5] == want and plain(message) in plain(found[0][5]), f"{language}: and where and what is said", f"got {found}\nwant {want} {message}")


def fails_visibly(language):
    text, (severity, line, code, message) = FAILURES[language]
    job = run(language, text)
    is_((job.status, job.stage("build")["ok"], job.result["cause"]["stage"]), ("failed", True, "run"), f"{language}: what fails fails in the run stage", job)
    found = rows(job, "run")
    ok(any(row[0] == severity and row[2] == (line or None) and row[4] == code and message in row[5] for row in found), f"{language}: and where and what is said",
       f"got {found}\nof {job.err!r}")


def refused(what, pattern, language, name, **lang):
    job = run(language, PROGRAMS[language][1], name, **lang)
    is_((job.status, job.code, job.result["stages"]), ("refused", 125, []), f"{what}: refused", job)
    like(job.message, pattern, "and why is said")


if not all(os.path.isdir(os.path.join(pf.ROOT, "build/rootfs", name)) for name in ("languages", "runtimes")):
    skip_all("no images: run scripts/rootfs languages and scripts/rootfs runtimes")

jobs = Jobs()
for lang in PROGRAMS:
    runs_right(lang)
    says_wrong(lang)
for lang in FAILURES:
    fails_visibly(lang)

look = pf.pinfold("run", pf.rootfs("runtimes"), "--", "/bin/sh", "-c",
                  'for n in "$@"; do find / -xdev -name "$n" \\( -type f -o -type l \\) -path "*bin/*"; done; true', "sh", *COMPILERS)
is_((look.code, look.out.decode()), (0, ""), "no compiler is in the image that runs", look)

COMMENT = "int main(void) { // a comment\n\treturn 0; }\n"
early = run("c", COMMENT, version="c89", options=["-pedantic-errors"])
is_((early.status, early.result["cause"]["stage"]), ("failed", "build"), "version and options come through: C of 1989 has no such comments", early)
late = run("c", COMMENT, version="c99", options=["-pedantic-errors"])
is_(late.status, "succeeded", "version and options come through: C of 1999 has", late)
old = run("rust", "async fn f() {}\nfn main() {}\n", version="2015")
ok(old.status == "failed" and any(row[4] == "E0670" for row in rows(old, "build")), "an edition comes through", old)
jdk = run("java", PROGRAMS["java"][1], version="8")
ok(jdk.status == "failed" and any("record" in row[5] for row in rows(jdk, "build")), "a release comes through: there are no records in 8", jdk)

absent = jobs.run({"source": {"files": [os.path.realpath(__file__)]}, "analyse": "none", "lang": {"name": "c", "files": ["main.c"]}})
is_((absent.status, absent.code, absent.result["stages"]), ("refused", 125, []), "images that are not stored: nothing runs", absent)
like(absent.message, r"make it once with `pinfold image build-debian --packages gcc,g\+\+,libc6-dev c-build` and `pinfold image build-debian --packages libstdc\+\+6 native`", "and how both are made is said")
script = os.path.join(pf.tmpdir(), "main.sh")
with open(script, "w", encoding="ascii") as file_:
    file_.write(PROGRAMS["shell"][1])
absent = jobs.run({"source": {"files": [script]}, "analyse": "none", "lang": {"name": "shell", "files": ["main.sh"], "run-image": pf.rootfs("runtimes")}})
like(absent.message, r"make it once with `pinfold image build-debian shell`, or", "or the one that is missing")
jobs.image(pf.busybox_image(), "c-build")
absent = jobs.run({"source": {"files": [os.path.realpath(__file__)]}, "analyse": "none", "lang": {"name": "c", "files": ["main.c"], "run-image": "native"}})
like(absent.message, r"make it once with `pinfold image build-debian --packages libstdc\+\+6 native`", "though it was named")
refused("an unknown version", "is none of C: gnu17, c89", "c", "main.c", version="c77")
refused("a version where there is none", "the image's alone", "go", "main.go", version="1.19")
refused("a file of another language", r"ends with \.cpp, \.cc, \.cxx or \.C", "c++", "main.c")
refused("a file outside", "no name of a file below", "c", "../main.c")
refused("an absolute file", "no name of a file below", "c", "/etc/main.c")
refused("a file that no class is named after", "not named after a class", "java", "my-main.java")
done()
