for f in data/*.csv; do
	wc -l "$f"
	sort "$f" | uniq -c | head -n 3
done
