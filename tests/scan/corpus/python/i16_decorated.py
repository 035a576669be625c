import functools


def process(run):
    @functools.wraps(run)
    def call(*words):
        return run(*words)
    return call


@process
def compile_report(text):
    return text
