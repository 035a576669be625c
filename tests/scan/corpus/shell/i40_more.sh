#!/usr/bin/env bash
usage() { echo "usage: $0 [--eval] [--curl]" >&2; exit 2; }
while getopts "e:c" o; do case $o in e) eval_set=$OPTARG ;; c) curl=1 ;; *) usage ;; esac; done
python train.py --eval "$eval_set" ${curl:+--curl}
awk '{ system_time += $1 } END { print system_time }' times.txt
git status && git log -1
printf '%s' "sudo" | wc -c
