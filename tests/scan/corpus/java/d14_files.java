import java.io.*;
import java.nio.file.*;
class Files2 {
	static void go() throws Exception {
		new FileReader("/etc/passwd").read(); // FIND: java.outside-file
		File f = new File("../../secret"); // FIND: java.outside-file
		Path p = Paths.get("/root", ".ssh"); // FIND: java.outside-file
		String home = System.getProperty("user.home"); // FIND: java.outside-file
	}
}
