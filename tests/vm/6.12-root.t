#!/bin/bash
# Kernel 6.12, as root without systemd; an ext4 disk.
# shellcheck source=tests/vm/lists
. "$(dirname "$0")/lists"
boot --kernel 6.12 --as root --disk -- "${everywhere[@]}" "${by_kernel[@]}" "${by_subtree[@]}" "${promises[@]}" "${attacks[@]}"
