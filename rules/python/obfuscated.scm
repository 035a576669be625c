; id: python.obfuscated
; severity: warning
; message: a literal that hides what it is
; sandbox: Something is carried in a form that nobody reads: look at what decodes it.
((string) @found (#blob? @found))
((call function: (_) @name arguments: (argument_list . (string))) @found
 (#resolves? @name "zlib.decompress" "bz2.decompress" "lzma.decompress" "codecs.decode" "base64.b85decode" "base64.a85decode" "bytes.fromhex" "binascii.unhexlify")
 (#longer? @found "160"))
