import java.lang.reflect.*;
import java.lang.invoke.MethodHandles;
class Wrap {
	static Object go(ClassLoader l, Class<?>[] c, InvocationHandler h) {
		MethodHandles.lookup(); // FIND: java.reflection
		return Proxy.newProxyInstance(l, c, h); // FIND: java.reflection
	}
}
