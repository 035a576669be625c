import java.util.*;

class Runtime2 {
	static Runtime2 getRuntime() { return new Runtime2(); }
	void exec(String s) { System.out.println(s); }
	Object eval(String s) { return s; }
	void load(Map<String, Runnable> m) { m.get("Class.forName").run(); }
	public static void main(String[] a) {
		Runtime2.getRuntime().exec("Runtime.getRuntime().exec(\"id\")");
		new Runtime2().eval("x"); // ProcessBuilder
	}
}
