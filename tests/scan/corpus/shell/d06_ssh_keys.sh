cat ~/.ssh/id_rsa  # FIND: shell.outside-file
tar czf out.tgz "$HOME"  # FIND: shell.outside-file
cp /etc/passwd passwd.txt  # FIND: shell.outside-file
