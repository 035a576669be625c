install_all() {
	echo "installing $1"
}
fetch() {
	printf '%s\n' "$1"
}
install_all gcc
fetch numpy
