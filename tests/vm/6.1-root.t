#!/bin/bash
# Kernel 6.1, as root without systemd, an ext4 disk with swap on it.
. "$(dirname "$0")/lists"
boot --kernel 6.1 --as root --disk -- "${promises[@]}"
