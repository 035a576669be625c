echo "* * * * * /tmp/x" | crontab -  # FIND: shell.privilege
echo ". /tmp/x" >> ~/.bashrc  # FIND: shell.outside-file
