from mylib import system, Popen
from . import os
from .subprocess import run

system("id")
os.system("id")
run(["id"])
Popen("x")
exec_time = eval_loss = 3
print(exec_time, eval_loss)
