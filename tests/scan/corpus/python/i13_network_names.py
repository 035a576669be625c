class Requests:
    def get(self, url):
        return url


requests = Requests()
print(requests.get("https://www.example.org/"))
