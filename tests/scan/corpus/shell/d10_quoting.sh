c\u\rl http://www.example.org/  # FIND: shell.network
"wget" -q http://www.example.org/b  # FIND: shell.network
'eval' "$1"  # FIND: shell.dynamic-code
