def system(text):
    return text.upper()


def run(words):
    return system(" ".join(words))


print(run(["a", "b"]))
