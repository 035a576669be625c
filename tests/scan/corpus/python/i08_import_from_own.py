from model import eval as evaluate
from .tools import system, popen
from mylib.os import execv

evaluate("x")
system("a")
popen("b")
execv("c")
