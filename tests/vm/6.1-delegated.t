#!/bin/bash
# Kernel 6.1, as an ordinary user with a delegated subtree; an ext4 disk.
# shellcheck source=tests/vm/lists
. "$(dirname "$0")/lists"
boot --kernel 6.1 --as delegated --disk -- "${everywhere[@]}" "${by_subtree[@]}" "${promises[@]}"
