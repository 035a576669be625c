from urllib.request import urlopen, urlretrieve as fetch
import http.client as hc

urlopen("http://mirror.example.org/a")  # FIND: python.network
fetch("https://mirror.example.org/b", "b")  # FIND: python.network
hc.HTTPSConnection("api.example.com")  # FIND: python.network
