python3 main.py --epochs 3 --out out.json
node index.js
bash scripts/run.sh fast
