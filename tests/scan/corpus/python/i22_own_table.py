requests = {"https://www.example.org/": 1}
socket = lambda name: name
print(requests.get("https://www.example.org/"))
socket("x")
