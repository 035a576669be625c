#!/bin/sh
command -v curl
command -V wget
dd if=/dev/zero of=image bs=1M count=1
tar xf a.tar -C out
openssl version
docker --version
