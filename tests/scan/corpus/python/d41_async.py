import asyncio
import urllib.request as u
import http.client


async def main():
    p = await asyncio.create_subprocess_exec("id")  # FIND: python.process
    r, w = await asyncio.open_connection("drop.example.net", 80)  # FIND: python.network
    u.urlopen("https://drop.example.net")  # FIND: python.network
    http.client.HTTPSConnection("drop.example.net").request("GET", "/")  # FIND: python.network
