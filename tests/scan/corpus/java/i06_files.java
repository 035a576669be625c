import java.io.*;
import java.nio.file.*;
class Save {
	static void go() throws IOException {
		Files.writeString(Path.of("out/result.txt"), "x");
		try (BufferedReader r = new BufferedReader(new FileReader("data/x.txt"))) {
			r.readLine();
		}
		new File("/tmp/scratch.txt").delete();
	}
}
