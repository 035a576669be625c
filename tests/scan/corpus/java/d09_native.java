class Native {
	static {
		System.loadLibrary("fast"); // FIND: java.native
	}
	private native int work(int n); // FIND: java.native
}
