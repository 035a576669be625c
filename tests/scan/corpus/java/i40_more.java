import java.util.*;
class Engine {
	interface Script { Object eval(Map<String, Object> m); }
	static class Process { void start() {} Process exec(String s) { return this; } }
	void a(Script s, Process p) {
		s.eval(Map.of());
		p.exec("Runtime.exec").start();
		Optional.of("x").map(String::length).get();
		Class<?> c = String.class;
		System.out.println(c.getSimpleName() + c.isInstance("x"));
	}
}
