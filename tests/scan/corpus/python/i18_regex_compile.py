import re as r

WORD = r.compile(r"\w+")
LINES = [WORD.sub("x", line) for line in open("notes.txt")]
