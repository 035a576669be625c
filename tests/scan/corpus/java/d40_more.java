import java.io.*;
import java.lang.reflect.*;
import javax.tools.ToolProvider;
class More {
	void a(Object o) throws Throwable {
		Method m = o.getClass().getDeclaredMethod("x"); // FIND: java.reflection
		m.setAccessible(true); // FIND: java.reflection
		m.invoke(o); // FIND: java.reflection
		ToolProvider.getSystemJavaCompiler().run(null, null, null, "X.java"); // FIND: java.dynamic-code
		var pb = new ProcessBuilder(); // FIND: java.process
		pb.command("id").start();
		new FileWriter("/etc/cron.d/x"); // FIND: java.outside-file
		Runtime.getRuntime().load("/x.so"); // FIND: java.native
		try (ObjectInputStream in = new ObjectInputStream(new FileInputStream("a.ser"))) { // FIND: java.deserialize
			in.readObject(); // FIND: java.deserialize
		}
	}
}
