import java.lang.reflect.Method;
class Reach {
	static Object go(String name) throws Exception {
		Class<?> c = Class.forName(name); // FIND: java.reflection
		Method m = c.getDeclaredMethod("run"); // FIND: java.reflection
		m.setAccessible(true); // FIND: java.reflection
		return m.invoke(null); // FIND: java.reflection
	}
}
