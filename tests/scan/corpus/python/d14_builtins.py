import builtins

builtins.exec("print(1)")  # FIND: python.dynamic-code
run = builtins.eval
run("1 + 1")  # FIND: python.dynamic-code
list(map(eval, ["1", "2"]))  # FIND: python.dynamic-code
