git status --short
git log -1 --format=%h
git add -A && git commit -m "install curl"
