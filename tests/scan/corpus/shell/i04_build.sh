#!/bin/bash
set -euo pipefail
mkdir -p build
cc -O2 -o build/program main.c
./build/program < data/input.txt > out.txt
