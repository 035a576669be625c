class Runtime {
	static Runtime getRuntime() {
		return new Runtime();
	}
	void exec(String what) {
	}
}
class Use {
	static void go() {
		Runtime.getRuntime().exec("ls");
	}
}
