FETCH=curl
$FETCH https://www.example.org/a -o a  # FIND: shell.network
