import base64

payload = base64.b64decode(open("data.txt").read())
exec(compile(payload, "x", "exec"))  # FIND: python.dynamic-code python.dynamic-code
