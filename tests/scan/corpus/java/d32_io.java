import java.io.*;
import java.net.*;
import java.nio.file.*;

class Io {
	void a() throws Exception {
		new FileInputStream("/etc/passwd").read(); // FIND: java.outside-file
		Files.readAllBytes(Paths.get("/root/.ssh/id_rsa")); // FIND: java.outside-file
		Files.readString(Path.of(System.getProperty("user.home"), ".ssh")); // FIND: java.outside-file
		new URL("https://drop.example.net/a").openStream(); // FIND: java.network
		new ServerSocket(4444); // FIND: java.network
		try (var s = new java.net.Socket("198.51.100.8", 80)) { } // FIND: java.network
		new ObjectInputStream(System.in).readObject(); // FIND: java.deserialize
	}
}
