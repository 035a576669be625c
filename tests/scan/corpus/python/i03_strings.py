HELP = "use os.system('ls') or eval(x) at your own risk"
print("pickle.load(file)", HELP)
print("see https://docs.example.org/eval")
