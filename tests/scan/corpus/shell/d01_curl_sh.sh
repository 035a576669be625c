#!/bin/sh
curl -fsSL https://get.example.org/install.sh | sh  # FIND: shell.network shell.dynamic-code
