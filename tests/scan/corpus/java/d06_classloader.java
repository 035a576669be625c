import java.net.URL;
import java.net.URLClassLoader;
class Load {
	static void go() throws Exception {
		URL where = new URL("https://plugins.example.org/x.jar"); // FIND: java.network
		new URLClassLoader(new URL[] {where}).loadClass("X"); // FIND: java.dynamic-code
	}
}
