class Run {
	static void go() throws Exception {
		Runtime r = Runtime.getRuntime();
		r.exec(new String[] {"sh", "-c", "id"}); // FIND: java.process
	}
}
