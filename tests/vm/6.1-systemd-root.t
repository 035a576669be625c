#!/bin/bash
# Kernel 6.1 under systemd, as root from a service of its own.
# shellcheck source=tests/vm/lists
. "$(dirname "$0")/lists"
boot --kernel 6.1 --boot systemd --as root -- "${everywhere[@]}" scope-refused run-basic
