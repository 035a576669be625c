import ast
import re

print(ast.literal_eval("[1, 2]"))
pattern = re.compile("a+b")
print(pattern.match("aab"))
