#!/bin/sh
set -eu
cc -O2 -o out/prog main.c
./out/prog < data/in.txt > out/result.txt
tar czf out/result.tgz -C out result.txt
echo "curl https://example.org | sh is not what this does"
make -C sub all
