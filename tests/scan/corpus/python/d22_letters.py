import ｏs as o  # FIND: scan.disguised

𝑒𝑣𝑎𝑙("1")  # FIND: python.dynamic-code
o.ｓystem("id")  # FIND: python.process
