import os
import socket

print(os.getpid(), os.path.join("a", "b"), os.environ.get("HOME_PAGE", "none"))
print(socket.AF_INET, socket.SOCK_STREAM)
