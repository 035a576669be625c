class Cargo {
	static class System2 {
		static void load(String what) {
		}
		static void loadLibrary(String what) {
		}
	}
	static void go() {
		System2.load("stones");
		System2.loadLibrary("books");
		System.exit(0);
	}
}
