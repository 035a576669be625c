#!/bin/sh
python3 experiment.py --seed 3 --out result.json
python3 -m json.tool result.json > pretty.json
node build.js
java -cp out Main
mkdir -p out && cp pretty.json out/
