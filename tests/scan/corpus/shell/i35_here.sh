#!/bin/bash
cat <<< "eval"
cat <<'END'
sh <<< "$1"
END
trap 'rm -f "$work"; echo evaluated' EXIT
sep=$'\n'
a=out
b=put
"./$a$b" "$sep"
