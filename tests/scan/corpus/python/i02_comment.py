# os.system("rm -rf /") would be a bad idea, and so would eval(input()).
"""This module never calls subprocess.run or exec."""
VALUE = 3
