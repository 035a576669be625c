export LD_PRELOAD=./hook.so  # FIND: shell.privilege
LD_PRELOAD=./hook.so ls  # FIND: shell.privilege
