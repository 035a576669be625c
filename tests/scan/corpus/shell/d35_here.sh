#!/bin/bash
sh <<< "$1" # FIND: shell.dynamic-code
bash <<'END' # FIND: shell.dynamic-code
ls
END
tool=$'\u0063url'
$tool https://drop.example.net/ # FIND: shell.network
a=e
b=val
$a${b} "$1" # FIND: shell.dynamic-code
trap "eval \$x" EXIT # FIND: shell.dynamic-code
