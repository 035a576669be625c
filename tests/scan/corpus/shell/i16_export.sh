export PATH="$PWD/bin:$PATH"
export OMP_NUM_THREADS=2
TOKEN_FILE=token.txt
echo "$TOKEN_FILE" "$OMP_NUM_THREADS"
