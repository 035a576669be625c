sudo rm -rf build  # FIND: shell.privilege
chmod u+s tool  # FIND: shell.privilege
chmod 4755 tool  # FIND: shell.privilege
