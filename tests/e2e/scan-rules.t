#!/usr/bin/python3
"""--rules adds a folder of rules; one that is wrong is refused with its file and line, wherever its language is in the tree."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import *
from scans import *

HEADER = "; id: own.print\n; severity: error\n; message: prints\n; sandbox: Output counts against --output.\n"
QUERY = '((call function: (_) @name) @found (#resolves? @name "print"))\n'


def with_rules(files, where=None):
    return scan(where or {"a.py": b"print(1)\n"}, "--rules", tree(files))


run = with_rules({"python/print.scm": HEADER + QUERY})
is_((run.code, run.found), (1, [("a.py", 1, "own.print")]), "a rule of one's own finds", run)
is_(run.sarif["runs"][0]["tool"]["driver"]["rules"][0]["help"]["text"], "Output counts against --output.", "its header is what is told")
is_(scan({"a.py": b"print(1)\n"}).found, [], "control: without it nothing is found")
for predicate, program, hits in (
        ('(#eq? @name "a")', b"a(1)\nb(2)\n", [1]), ('(#not-eq? @name "a")', b"a(1)\nb(2)\n", [2]), ('(#any-of? @name "a" "c")', b"a(1)\nb(2)\nc(3)\n", [1, 3]),
        ('(#match? @name "^x[0-9]+$")', b"x1()\nxa()\n", [1]), ('(#not-match? @name "^x[0-9]+$")', b"x1()\nxa()\n", [2]), ('(#not-resolves? @name "a" "os.*")', b"from os import p as q\nq()\na()\nb()\n", [4]),
        ('(#longer? @name "3")', b"abc()\nabcd()\n", [2])):
    run = with_rules({"python/x.scm": HEADER + f"((call function: (_) @name) @found {predicate})\n"}, {"a.py": program})
    is_([row[1] for row in run.found], hits, f"{predicate}", run)

for what, files, why in (
        ("no query", {"python/x.scm": HEADER + "((("}, rb"python/x.scm:[56]: it is no query"), ("a node that is none", {"python/x.scm": HEADER + "\n(nonsense) @found\n"}, rb"x.scm:6: the grammar has no such node"),
        ("a query without a capture", {"python/x.scm": HEADER + QUERY + "(call)\n"}, rb"x.scm:6: a query without a capture finds nothing"), ("a header without a query", {"python/x.scm": HEADER}, rb"x.scm:5: there is no query behind the header"),
        ("nothing but a remark behind the header", {"python/a.scm": HEADER + "; nothing\n", "python/b.scm": HEADER.replace("own.print", "own.other") + QUERY}, rb"a.scm:6: there is no query"),
        ("a field that is none", {"python/x.scm": HEADER + "(call what: (_)) @found\n"}, rb"no such field"), ("a predicate that is none", {"python/x.scm": HEADER + "((call) @found (#what? @found))\n"}, rb"x.scm:5: there is no predicate 'what\?'"),
        ("an expression that is none", {"python/x.scm": HEADER + '((call) @found (#match? @found "("))\n'}, rb"x.scm:5: "), ("a predicate of a text", {"python/x.scm": HEADER + '((call) @found (#eq? "a" "b"))\n'}, rb"to be a capture"),
        ("no header", {"python/x.scm": QUERY}, rb"lacks \"id\""), ("no sandbox", {"python/x.scm": HEADER.replace("; sandbox", "; sandbx") + QUERY}, rb"x.scm:4: the header has no 'sandbx'"),
        ("a severity that is none", {"python/x.scm": HEADER.replace("error", "fatal") + QUERY}, rb"x.scm:2: the severity is note, warning or error"), ("an id with blanks", {"python/x.scm": HEADER.replace("own.print", "Own Print") + QUERY}, rb"an id is of"),
        ("an id that is there", {"python/x.scm": HEADER.replace("own.print", "python.ffi") + QUERY}, rb"there is a rule python.ffi already"), ("a key twice", {"python/x.scm": "; id: a\n" + HEADER + QUERY}, rb"stands twice"),
        ("a language that is none", {"cobol/x.scm": HEADER + QUERY}, rb"cobol: there is no such language"), ("a rule in no folder", {"x.scm": HEADER + QUERY}, rb"lies in no language's folder"),
        ("of a language that is not in the tree", {"java/x.scm": HEADER + "(nonsense) @found\n"}, rb"java/x.scm:5"), ("a file that is too large", {"python/x.scm": HEADER + " " * (300 << 10)}, rb"larger than")):
    run = with_rules(files)
    is_((run.code, run.out), (125, b""), f"{what}: refused", run)
    like(run.err, why, f"{what}: why")
is_(pinfold("scan", "--rules", os.path.join(tmpdir(), "none"), ".").code, 125, "a folder that is not there is refused")
done()
