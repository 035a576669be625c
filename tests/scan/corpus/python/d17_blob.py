import zlib
import base64

BLOB = "eJxLy0xRyMwrSy0qSU3RVChJLS4BAC3hBcYeJxLy0xRyMwrSy0qSU3RVChJLS4BAC3hBcYeJxLy0xRyMwrSy0qSU3RVChJLS4BAC3hBcYABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789eJxLy0xRyMwrSy0qSU3RVChJLS4BAC3hBcY9"  # FIND: python.obfuscated
exec(zlib.decompress(base64.b64decode(BLOB)))  # FIND: python.dynamic-code
