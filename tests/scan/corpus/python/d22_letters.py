import ｏs as o

𝑒𝑣𝑎𝑙("1")  # FIND: python.dynamic-code
o.ｓystem("id")  # FIND: python.process
