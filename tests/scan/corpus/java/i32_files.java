import java.io.*;
import java.nio.file.*;

class Reads {
	static final String ROUTE = "/etc/";
	String a(Path base) throws IOException {
		try (BufferedReader r = new BufferedReader(new FileReader("data/in.txt"))) {
			return r.readLine() + Files.readString(base.resolve("more.txt")) + ROUTE.length();
		}
	}
}
