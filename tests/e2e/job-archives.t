#!/usr/bin/python3
"""An archive that a stage takes is unpacked where it says so: one of the host, one that an earlier stage made, and the key of the cache tells both ways apart."""
import io
import os
import sys
import tarfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
from jobs import Jobs, stage
from pf import *

jobs = Jobs()
slim = busybox_image()
archive = os.path.join(tmpdir(), "a.tar.gz")
with tarfile.open(archive, "w:gz") as tar:
    for name, content in (("d/f", b"from an archive\n"), ("g", b"g\n")):
        member = tarfile.TarInfo(name)
        member.size = len(content)
        tar.addfile(member, io.BytesIO(content))

job = jobs.run({"image": slim, "stages": [stage("a", "sh", "-c", "cat data/d/f; ls data /run/input/again; test -f whole && wc -c < whole",
                                                inputs={"copy": [f"{archive}:data:unpack", f"{archive}:whole"], "read-only": [f"{archive}:again:unpack"]})]})
is_((job.status, job.out.decode().split()), ("succeeded", f"from an archive /run/input/again: d g data: d g {os.path.getsize(archive)}".split()),
    "one of the host, unpacked twice and as it is", job)


def passed_on(source):
    return {"image": slim, "stages": [stage("make", "sh", "-c", "mkdir d && echo made > d/f && tar -cf out.tar d", outputs=["out.tar"]),
                                      stage("take", "sh", "-c", "ls -F in; cat in/d/f", inputs={"copy": [source]})]}


job = jobs.run(passed_on("@make:in:unpack"))
is_((job.status, job.out), ("succeeded", b"d/\nmade\n"), "one that an earlier stage made", job)
job = jobs.run(passed_on("@make:in"))
is_((job.status, job.out), ("failed", b"in\n"), "without the word it is a file, and no cached stage says otherwise", job)
job = jobs.run({"image": slim, "stages": [stage("make", "sh", "-c", "echo none > out.tar", outputs=["out.tar"]),
                                          stage("take", "true", inputs={"copy": ["@make:in:unpack"]})]})
is_((job.status, job.states()[-1][1:]), ("failed", ("ran", False)), "what is no archive fails the stage that takes it", job)
is_(jobs.leavings(), [], "nothing of it is left")
done()
