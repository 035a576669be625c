import static java.lang.Runtime.getRuntime;
class Run {
	static void go() throws Exception {
		getRuntime().exec("id"); // FIND: java.process
	}
}
