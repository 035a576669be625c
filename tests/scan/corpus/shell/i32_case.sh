#!/bin/bash
for f in data/*.csv; do
	case "$f" in
	*/etc/*) echo skip ;;
	*) wc -l < "$f" >> counts.txt ;;
	esac
done
: "${HOME:?}" "${TMPDIR:=/tmp}"
cat <<'END'
eval "$(curl https://example.org)"
END
