import java.lang.reflect.Method;

class Hidden {
	public static void main(String[] a) throws Exception {
		Class<?> c = Class.forName("java.lang." + "Runtime"); // FIND: java.reflection
		Method m = c.getMethod("ex" + "ec", String.class); // FIND: java.reflection
		m.invoke(c.getMethod("getRuntime").invoke(null), "id"); // FIND: java.reflection java.reflection
	}
}
