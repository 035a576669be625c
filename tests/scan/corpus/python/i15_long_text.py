TEXT = """
It was a bright cold day in April, and the clocks were striking thirteen. A text is a text, however long it is: it has blanks
in it, it has commas, and somebody wrote it for somebody to read. None of it is code, and nothing decodes it. It was a bright
cold day in April, and the clocks were striking thirteen.
"""
DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
