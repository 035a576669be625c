#!/usr/bin/python3
"""bash completes the options of `run`, their values, and files where a file belongs."""
import os
import shlex
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from pf import BUILD, done, is_, ok, tmpdir

SCRIPT = os.path.join(BUILD, "share/bash-completion/completions/pinfold")
folder = tmpdir()
os.mkdir(os.path.join(folder, "some tree"))
open(os.path.join(folder, "spec.json"), "w", encoding="utf-8").close()


def complete(*words):
    """What bash offers for the last word; words as bash splits them, `=` a word of its own."""
    line = " ".join(map(shlex.quote, words))
    program = f'. {shlex.quote(SCRIPT)}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _pinfold; ' \
              'printf "%s\\n" "${COMPREPLY[@]}"'
    got = subprocess.run(["bash", "--norc", "-uc", program], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         text=True, check=False)
    is_(got.stderr, "", f"no complaint from bash for: {line}")
    return sorted(filter(None, got.stdout.split("\n")))


ok({"run", "explain", "doctor", "ps", "kill", "gc"} <= set(complete("pinfold", "")), "subcommands")
is_(complete("pinfold", "r"), ["report", "run"], "a subcommand that is begun")
is_(complete("pinfold", "run", "--mem"), ["--memory"], "an option that is begun")
ok(len(complete("pinfold", "run", "--")) > 30, "all options")
is_(complete("pinfold", "explain", "--scratch"), ["--scratch", "--scratch-inodes"], "explain has the same")
is_(complete("pinfold", "run", "--ids", ""), ["auto", "range", "single"], "the words of an option")
is_(complete("pinfold", "run", "--ids", "=", "r"), ["range"], "also behind =")
is_(complete("pinfold", "run", "--ids", "="), ["auto", "range", "single"], "and right behind it")
is_(complete("pinfold", "run", "--require", "user"), ["user-ns", "user-quotas"], "names of guarantees")
is_(complete("pinfold", "run", "--require", "memory,user"), ["memory,user-ns", "memory,user-quotas"], "also behind a comma")
is_(complete("pinfold", "run", "--require", "=", "a,b,cg"), ["a,b,cgroup", "a,b,cgroup-ns"], "and the next")
ok("memory,all" in complete("pinfold", "run", "--require", "memory,"), "and right behind one")
is_(complete("pinfold", "run", "--require", "memory,zzz"), [], "or nothing")
is_(complete("pinfold", "run", "--spec", "sp"), ["spec.json"], "a file")
is_(complete("pinfold", "run", "--stdin", ""), ["-", "null", "some tree", "spec.json"], "stdin: files and words")
is_(complete("pinfold", "run", "--memory", ""), [], "nothing is known about a size")
is_(complete("pinfold", "run", "--memory", "1G", "--tty", "so"), ["some tree"], "the image behind options")
is_(complete("pinfold", "run", "--memory", "=", "1G", "@"), ["@host"], "@host is an image")
is_(complete("pinfold", "run", "--tty", "--pi"), ["--pids"], "another option behind one without a value")
is_(complete("pinfold", "run", "@host", "--"), [], "behind the image the words are the program's")
is_(complete("pinfold", "run", "@host", "s"), ["some tree", "spec.json"], "files for the program")
is_(complete("pinfold", "run", "--", "so"), ["some tree"], "the image behind --")
is_(complete("pinfold", "doctor", "-"), ["--help", "--json"], "doctor has its own")
is_(complete("pinfold", "doctor", "so"), ["some tree"], "and an image")
is_(complete("pinfold", "doctor", "--json", "@"), ["@host"], "by either name")
is_(complete("pinfold", "gc", "-"), ["--cgroup-parent", "--help"], "gc has one of its own")
is_(complete("pinfold", "ps", "-"), ["--help", "--json"], "ps has its own")
is_(complete("pinfold", "image", "list", "--"), ["--help", "--json", "--names"], "a verb of image has its own")
is_(complete("pinfold", "image", "load", "--as", ""), ["docker", "layout", "tree"], "and the words of an option")
is_(complete("pinfold", "image", "export", "--format", "=", "o"), ["oci"], "also behind =")
is_(complete("pinfold", "scan", "--"), ["--format", "--gate", "--help", "--limit-time", "--merge", "--propose", "--rules", "--waive"], "scan has its options")
is_((complete("pinfold", "scan", "--format", "s"), complete("pinfold", "scan", "--gate", "=", "n")), (["sarif"], ["none", "note"]), "and their words")
is_(complete("pinfold", "audit", "--status", "ex"), ["exec-failed", "exited"], "audit: names of statuses")
is_(complete("pinfold", "report", "-"), ["--artifacts-dir", "--events", "--help", "--no-images", "--output"], "report has its own")
is_(complete("pinfold", "report", "--events", "sp"), ["spec.json"], "report: files as values")
is_(complete("pinfold", "report", "sp"), ["spec.json"], "and as what it is made of")
is_(complete("pinfold", "gc", "--cgroup-parent", "so"), ["some tree"], "which takes a folder")
is_(complete("pinfold", "job", "p"), ["plan"], "a verb of job")
is_(complete("pinfold", "job", "gc", "--"), ["--all", "--help", "--max-size", "--older"], "which has its own")
is_(complete("pinfold", "job", "run", "--lang", "ja"), ["java", "javascript"], "and the words of an option")
is_(complete("pinfold", "job", "check", "sp"), ["spec.json"], "or takes a file")
is_(complete("pinfold", "help", "ex"), ["explain"], "help is about a command")
is_(complete("pinfold", "nonsense", "-"), [], "an unknown subcommand has nothing")
done()
