import requests

URL = "https://data.example.org/set.csv"
rows = requests.get(URL, timeout=5).text  # FIND: python.network
session = requests.Session()  # FIND: python.network
session.post("https://collect.example.com/x", data=rows)  # FIND: python.network
