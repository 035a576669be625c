class Chained {
	void a() throws Exception {
		Runtime r = Runtime.getRuntime();
		r.exec(new String[] { "id" }); // FIND: java.process
		new java.lang.ProcessBuilder("id").inheritIO().start(); // FIND: java.process
		java.lang.Runtime.getRuntime().exec("id"); // FIND: java.process
		System.loadLibrary("evil"); // FIND: java.native
		var r2 = java.lang.Runtime.getRuntime();
		r2.exec("id"); // FIND: java.process
	}
}
