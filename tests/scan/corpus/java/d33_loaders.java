import java.lang.invoke.MethodHandles;
import java.net.URLClassLoader;
import javax.script.*;

class Loaders {
	void a(java.net.URL[] urls) throws Exception {
		new URLClassLoader(urls).loadClass("X"); // FIND: java.dynamic-code
		MethodHandles.lookup().defineClass(new byte[0]); // FIND: java.dynamic-code java.reflection
		ScriptEngine e = new ScriptEngineManager().getEngineByName("js"); // FIND: java.dynamic-code
		e.eval("1"); // FIND: java.dynamic-code
	}
}
