#!/bin/bash
code=$(cat data.txt)
eval "$code"  # FIND: shell.dynamic-code
