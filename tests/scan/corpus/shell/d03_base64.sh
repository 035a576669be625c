echo aWQK | base64 -d | bash  # FIND: shell.obfuscated shell.dynamic-code
