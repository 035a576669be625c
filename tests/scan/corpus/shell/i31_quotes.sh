#!/bin/bash
printf '%s\n' $'a\tb' "it"'s' e''
evaluate() { echo "$1"; }
evaluate "x"
name="eval"
echo "$name"
grep -n 'sudo' notes.txt || true
[[ $1 == eval ]] && echo yes
