"""`pinfold report` in a test: files for it, its pages, and their words."""
import html
import json
import os
import re

from pf import *

__all__ = ["Reports"]


class Reports:
    def __init__(self):
        self.folder = tmpdir()

    def write(self, name, content):
        """A file of bytes, or of a document; its path."""
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else json.dumps(content).encode())
        os.chmod(path, 0o644)
        return path

    def page(self, result, *words):
        """The page of a result, and its text without markup; words are more options."""
        run = pinfold("report", self.write("result.json", result), *words)
        is_((run.code, run.err), (0, b""), "a page is made", run)
        text = run.out.decode("utf-8")
        words = html.unescape(re.sub(r"<[^>]*>", " ", re.sub(r"<style>.*</style>", "", text, flags=re.S)))
        return text, " ".join(words.split())
