printf $'\x63\x75\x72\x6c\x20\x68\x74\x74\x70' > run.txt  # FIND: shell.obfuscated
xxd -r -p code.hex > code.bin  # FIND: shell.obfuscated
