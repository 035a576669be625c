#!/usr/bin/python3
"""pinfold job run --lang NAME FILE is enough: built by the language's template, run with less, the compiler's words read."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from jobs import Jobs, job_validator
from pf import *
from software import place_of

gcc = place_of("gcc") or skip_all("no gcc to be had: run scripts/rootfs languages")
if not os.path.exists(os.path.join(BUILD, "libexec/pinfold/pinfold-scan")):
    skip_all("no pinfold-scan was built: run scripts/grammars")
jobs = Jobs()
native = image({f"{path}": ("copy", path) for path in ("/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/libm.so.6")})
IMAGES = ["--build-image", gcc, "--run-image", native]
folder = tmpdir()


def file(name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as to:
        to.write(text)
    return path


main = file("main.c", '#include <stdio.h>\nint main(int n, char **v)\n{\n\tint unused;\n\tprintf("%d %s\\n", n, n > 1 ? v[1] : "");\n\treturn n - 1;\n}\n')
file("neighbour", "not named, and so not taken\n")
job = jobs.run(None, *IMAGES, "--lang", "c", words=[main])
is_((job.status, job.out, job.states()), ("succeeded", b"1 \n", [("fetch", "ran", True), ("build", "ran", True), ("run", "ran", True)]), "a file of C", job)
is_([(row["line"], row["severity"], row["code"]) for row in job.stage("build")["diagnostics"]], [(4, "warning", "-Wunused-variable")], "and what its compiler said", job)
is_(job.result["source"]["bytes"], os.path.getsize(main), "the file alone is taken", job)
job = jobs.run(None, *IMAGES, "--lang", "c", words=[main, "--", "@{x} $HOME"])
is_((job.status, job.code, job.out), ("failed", 1, b"2 @{x} $HOME\n"), "arguments behind --, as they are; its code is the stage's", job)
second = file("second.c", "int two(void) { return 2; }\n")
both = file("both.c", '#include <stdio.h>\nint two(void);\nint main(void) { printf("%d\\n", two()); return 0; }\n')
job = jobs.run(None, *IMAGES, "--lang", "c", "--lang-version", "c11", words=[both, second])
is_((job.status, job.out), ("succeeded", b"2\n"), "several files, and a version", job)
ok("-std=c11" in str(jobs.verb("plan", "--lang", "c", "--lang-version", "c11", *IMAGES, both, second).out), "which a plan shows")
upper = file("upper.c", '#include <ctype.h>\n#include <stdio.h>\nint main(void)\n{\n\tfor (int c; (c = getchar()) != EOF;) {\n\t\tputchar(toupper(c));\n\t\tif (c == 10)\n\t\t\tfflush(stdout);\n\t}\n\treturn 0;\n}\n')
feed = file("feed", "from a file\n")
job = jobs.run(None, *IMAGES, "--lang", "c", words=[upper], stdin=b"not asked for\n")
is_((job.status, job.out), ("succeeded", b""), "a program reads nothing that nobody gave it", job)
job = jobs.run(None, *IMAGES, "--lang", "c", "--stdin", feed, words=[upper])
is_((job.status, job.out), ("succeeded", b"FROM A FILE\n"), "with --stdin a file", job)
with open(feed, "rb") as source:
    job = jobs.run(None, *IMAGES, "--lang", "c", "--stdin", "-", words=[upper], stdin=source)
is_((job.status, job.out, job.stage("build")["result"]["ok"]), ("succeeded", b"FROM A FILE\n", True), "or the caller's, of which the build takes nothing", job)
with jobs.start(None, *IMAGES, "--lang", "c", "--stdin=-", words=[upper], stdin=subprocess.PIPE) as running:
    places = jobs.places
    for word in ("one", "two"):
        running.process.stdin.write(word.encode() + b"\n")
        running.process.stdin.flush()
        is_(running.line(), word.upper(), "which may be a stream: each line is answered before the next one comes")
    running.process.stdin.close()
    running.process.stdin = None
    job = jobs.finished(running, places)
is_(job.status, "succeeded", "until its end", job)
IN_DOCUMENT = {"source": {"files": [upper]}, "lang": {"name": "c", "files": ["upper.c"], "build-image": gcc, "run-image": native, "stdin": "-"}}
ok(job_validator("job").is_valid(IN_DOCUMENT), "a document says it, too")
job = jobs.run(IN_DOCUMENT, stdin=b"in the document\n")
is_((job.status, job.out), ("succeeded", b"IN THE DOCUMENT\n"), "with the same outcome", job)
job = jobs.run(None, *IMAGES, "--lang", "c", "--stdin", os.path.join(folder, "no-such-feed"), words=[upper])
ok(job.status == "failed" and job.result["cause"]["stage"] == "run" and "no-such-feed" in job.message, "a file that is not there fails the run, by name", job)
for option in ("stdin", "lang-version", "build-image", "run-image"):
    job = jobs.run({"image": native, "stages": [{"name": "a", "command": ["/bin/true"]}]}, f"--{option}", "c17")
    is_((job.code, job.status, job.message), (125, "refused", f"--{option} is for --lang; a document says it itself"), f"--{option} without --lang is refused", job)
broken = file("broken.c", "int main(void) { return x; }\n")
job = jobs.run(None, *IMAGES, "--lang", "c", words=[broken])
is_((job.code, job.status, job.result["cause"]["stage"], job.stage("run")["state"]), (1, "failed", "build", "skipped"), "what does not compile does not run", job)
is_([(row["line"], row["severity"], "undeclared" in row["message"]) for row in job.stage("build")["diagnostics"] if row["severity"] == "error"], [(1, "error", True)], "and says where", job)
evil = file("evil.c", '#include <stdlib.h>\nint main(void) { return system("id"); }\n')
job = jobs.run(None, *IMAGES, "--lang", "c", words=[evil])
ok(job.result["analysis"] and any(row["path"] == "evil.c" for row in job.result["analysis"]["findings"]), "it is analysed first", job)
for words, says in (([os.path.join(folder, "none.c")], "none.c"), ([main, main], "one destination"), ([file("x.py", "")], "x.py")):
    job = jobs.run(None, *IMAGES, "--lang", "c", words=words)
    ok(job.status in ("refused", "failed") and says in job.message, f"{says}: refused", job)
job = jobs.run(None, "--lang", "cobol", words=[main])
is_((job.code, job.status, job.message), (125, "refused", "--lang cobol: there is no template for 'cobol'; there are some for c, c++, python, c#, java, javascript, rust, go and shell"),
    "a language without a template: those that there are, and no place in a document that nobody wrote", job)
for flags, words, says in ((["--lang-version", "c99x"], [main], "version"), (["--run-image", "@{n}"], [main], "image"), ([], [os.path.join(folder, "x.py")], "x.py"), ([], [main, main], "destination")):
    job = jobs.run(None, "--lang", "c", *flags, words=words)
    ok(job.code == 125 and says in job.message and job.message.startswith("--lang c: ") and not re.search(r":[0-9]+:[0-9]+:|template:", job.message), f"{says}: no place either", job)
job = jobs.run({"source": {"files": [main]}, "lang": {"name": "c", "files": ["main.c"], "run-image": "@{n}"}})
like(job.message, r"job\.json:[0-9]+:[0-9]+: image", "in a document the place is that of lang")
job = jobs.run(None, "--lang", "c", words=[main])
ok(job.status == "refused" and "c-build" in job.message, "an image that is not stored is named", job)
done()
