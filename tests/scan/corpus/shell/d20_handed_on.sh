#!/bin/sh
xargs -I{} sh -c '{}' < list # FIND: shell.dynamic-code
find . -exec sh -c 'x' \; # FIND: shell.dynamic-code
dd if=image of=/dev/sda # FIND: shell.outside-file
tar xf a.tar -C / # FIND: shell.outside-file
docker run -v /:/host x # FIND: shell.container
