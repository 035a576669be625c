import java.util.List;
class Run {
	static void go() throws Exception {
		ProcessBuilder b = new ProcessBuilder(List.of("ls")); // FIND: java.process
		b.inheritIO();
		b.start(); // FIND: java.process
	}
}
