#!/bin/sh
find . -exec ls -l {} \;
xargs -n1 wc -c < list
env LANG=C sort list
printf '%s\n' 'a
\b'
