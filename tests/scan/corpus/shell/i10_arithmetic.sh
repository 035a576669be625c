n=0
while [ "$n" -lt 10 ]; do
	n=$((n + 1))
done
echo "$n" > /dev/null
