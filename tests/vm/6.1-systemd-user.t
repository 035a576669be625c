#!/bin/bash
# Kernel 6.1 under systemd, as an ordinary user from outside her session's tree.
# shellcheck source=tests/vm/lists
. "$(dirname "$0")/lists"
boot --kernel 6.1 --boot systemd --as user -- "${everywhere[@]}" scope-refused run-basic
