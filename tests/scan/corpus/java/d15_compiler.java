import javax.tools.ToolProvider;
class Compile {
	static void go() {
		ToolProvider.getSystemJavaCompiler().run(null, null, null, "X.java"); // FIND: java.dynamic-code
	}
}
