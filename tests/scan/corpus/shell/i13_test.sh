[ -f /etc/debian_version ] && echo debian
test -x ./program || exit 1
command -v gcc > /dev/null
