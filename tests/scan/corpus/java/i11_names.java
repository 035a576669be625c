class Names {
	int execCount, socketWidth, nativeSize;
	String processName = "none";
	int load() {
		return execCount + socketWidth + nativeSize + processName.length();
	}
}
