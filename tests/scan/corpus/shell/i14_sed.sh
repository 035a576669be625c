sed -e 's|/usr/local|.|' -e '/^#/d' config.in > config.out
awk '{ s += $1 } END { print s }' data.txt
