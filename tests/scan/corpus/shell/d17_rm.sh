rm -rf /usr/lib/python3  # FIND: shell.outside-file
rm -rf ../../other  # FIND: shell.outside-file
echo pwned > /etc/motd  # FIND: shell.outside-file
