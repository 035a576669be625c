#!/bin/sh
true
\curl https://www.example.org/ # FIND: shell.network
$'curl' https://www.example.org/ # FIND: shell.network
command curl https://www.example.org/ # FIND: shell.network
openssl s_client -connect www.example.org:443 # FIND: shell.network
