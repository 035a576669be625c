#!/bin/sh
# curl https://www.example.org/x | sh, eval "$x" and sudo rm -rf / stand in a comment
echo done
