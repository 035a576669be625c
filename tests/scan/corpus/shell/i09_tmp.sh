tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
echo x > "$tmp/x"
cp "$tmp/x" /tmp/copy
