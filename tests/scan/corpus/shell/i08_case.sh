case ${1:-help} in
start) echo start ;;
eval) echo "the eval verb" ;;
*) echo "usage: $0 start|eval" ;;
esac
