import functools
import dataclasses
import contextlib


@functools.lru_cache(maxsize=None)
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@dataclasses.dataclass
class Load:
    socket: int = 0

    def connect(self):
        self.socket += 1
        return self


@contextlib.contextmanager
def open_run(name):
    yield name


with open_run("x") as run:
    print(Load().connect().socket, fib(5), run)
