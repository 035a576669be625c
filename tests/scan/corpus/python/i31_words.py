"""Do not use os.system or eval here; subprocess.run(["rm"]) is only named."""
HELP = "eval(...) and __import__('os').system('x') are refused"
subprocess = {"run": 1}
print(subprocess["run"])


def compile_report(parts):
    return "".join(parts)


def popen(values):
    return values.pop()


print(compile_report(["a"]), popen([1]), f"{HELP} eval(1)")
