#!/bin/bash
declare -A count
while read -r word; do
	((count[$word]++)) || true
done < words.txt
for w in "${!count[@]}"; do printf '%s %d\n' "$w" "${count[$w]}"; done | sort > out.txt
local_sudo=1
export PATH_NAME="eval"
echo "${local_sudo}${PATH_NAME}"
