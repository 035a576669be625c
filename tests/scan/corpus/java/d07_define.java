class Loader extends ClassLoader { // FIND: java.dynamic-code
	Class<?> make(byte[] b) {
		return defineClass("X", b, 0, b.length); // FIND: java.dynamic-code
	}
}
