"""Jobs in tests: documents as dicts, results held against their schema.

    jobs = Jobs()
    job = jobs.run({"image": "@host", "stages": [...]})
    is_(job.status, "succeeded", "...", job)
    job.stage("build")["result"]["status"]

A Jobs has a store of its own. What runs are left is looked at by its leavings().
"""
import json
import os
import subprocess

import pf

__all__ = ["Jobs", "stage", "job_validator"]

_validators = {}


def _standing_alone(name):
    """The schema of that name with its own references spelled out."""
    schema = pf.load_schema(name).schema
    return json.loads(json.dumps(schema).replace('"$ref": "#/', f'"$ref": "urn:pinfold:{name}:1#/'))


def job_validator(name):
    """For job or job-result, which refer to the schemas of a spec and of a result."""
    if name not in _validators:
        import jsonschema  # slow to load
        schema = pf.load_schema(name).schema
        jsonschema.Draft202012Validator.check_schema(schema)
        store = {f"urn:pinfold:{other}:1": _standing_alone(other) for other in ("spec", "result")}
        resolver = jsonschema.RefResolver(schema["$id"], schema, store=store)
        _validators[name] = jsonschema.Draft202012Validator(schema, resolver=resolver)
    return _validators[name]


def stage(name, *command, **more):
    """One stage; of a member with a dash in its name the dash is an underscore."""
    return {"name": name, "command": list(command), **{key.replace("_", "-"): value for key, value in more.items()}}


class Job:
    """A pf.Run with the job's result and events."""

    def __init__(self, run, result_file, events_file, folder):
        self.run, self.folder = run, folder
        self.code, self.out, self.err = run.code, run.out, run.err
        with open(result_file, "rb") as file:
            self.text = file.read()
        self.result = json.loads(self.text)
        errors = [f"{'/'.join(map(str, e.path))}: {e.message}" for e in job_validator("job-result").iter_errors(self.result)]
        if errors:
            raise ValueError("not valid by job-result.schema.json: " + "; ".join(errors[:5]))
        self.events = []
        if os.path.exists(events_file):
            with open(events_file, "rb") as file:
                self.events = [pf.parse(line, "job-event") for line in file]
            for event in self.events:
                if event["what"] == "run":
                    pf.parse(json.dumps(event["event"]).encode(), "event")

    @property
    def status(self):
        return self.result["status"]

    @property
    def message(self):
        return self.result["cause"]["message"] or ""

    def stages(self, name):
        return [one for one in self.result["stages"] if one["name"] == name]

    def stage(self, name):
        return self.stages(name)[0]

    def states(self):
        return [(one["name"], one["state"], one["ok"]) for one in self.result["stages"]]

    def __str__(self):
        brief = {**self.result, "stages": [{**one, "result": one["result"] and {k: v for k, v in one["result"].items() if k != "guarantees"}}
                                           for one in self.result["stages"]]}
        return f"code {self.code}\nstdout: {self.out[-800:]!r}\nstderr: {self.err[-1600:]!r}\nresult: {json.dumps(brief)}"


def processes(*words):
    """The pids of those whose command line has all of these words."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                line = file.read().split(b"\0")
        except OSError:
            continue
        if all(word.encode() in line for word in words):
            found.append(int(pid))
    return found


class Jobs:
    def __init__(self):
        self.path = os.path.join(pf.tmpdir(mode=0o700), "store")
        # Where there is no login there is no folder for slots.
        self.env = {"PINFOLD_STORE": self.path, **({"XDG_RUNTIME_DIR": pf.tmpdir(mode=0o700)} if pf.WHO == "user" else {})}

    def document(self, document):
        """The path of a file with it; a str is written as it is."""
        folder = pf.tmpdir()
        path = os.path.join(folder, "job.json")
        text = document if isinstance(document, str) else json.dumps(document, indent=1)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def start(self, document, *flags, words=None, net=None, **options):
        """A pf.Running; finish() it."""
        folder = pf.tmpdir()
        self.places = os.path.join(folder, "result.json"), os.path.join(folder, "events.jsonl"), folder
        argv = ["job", "run", "--result", self.places[0], "--events", self.places[1], *flags]
        argv += words if words is not None else [self.document(document)]
        env = {**self.env, **options.pop("env", {})}
        return (net or pf).start(*argv, env=env, **options)

    def run(self, document=None, *flags, stdin=None, timeout=120, **options):
        feed = stdin if isinstance(stdin, bytes) else None
        source = subprocess.PIPE if feed is not None else subprocess.DEVNULL if stdin is None else stdin
        with self.start(document, *flags, stdin=source, **options) as running:
            places = self.places
            return Job(running.wait(timeout, feed), *places)

    def finished(self, running, places, timeout=60):
        return Job(running.wait(timeout), *places)

    def verb(self, *words, **options):
        return pf.pinfold("job", *words, env=self.env, **options)

    def image(self, tree, name):
        """The tree as a stored image of that name."""
        done = pf.pinfold("image", "import", tree, name, env=self.env)
        if done.code:
            raise RuntimeError(f"image import: {done.err!r}")

    def plant(self, path):
        """A folder in the store that belongs to whom the store does."""
        target = os.path.join(self.path, path)
        os.mkdir(target, 0o700)
        owner = os.stat(self.path)
        os.chown(target, owner.st_uid, owner.st_gid)

    def leavings(self):
        """Work folders that are still there."""
        work = os.path.join(self.path, "jobs/work")
        return sorted(os.listdir(work)) if os.path.isdir(work) else []

    def entries(self):
        return sorted(os.listdir(os.path.join(self.path, "jobs/cache")))
