#!/usr/bin/python3
"""Java runs: javac, threads and a pool, a server on loopback and HttpClient, a child process, garbage collection."""
from software import BUILDS, runs, run_in, tools
from tap import done

PROGRAM = r"""
import java.net.*;
import java.net.http.*;
import java.nio.file.*;
import java.util.concurrent.*;
import java.util.stream.*;
import com.sun.net.httpserver.HttpServer;
public class Main {
	public static void main(String[] args) throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(8);
		long sum = 0;
		for (Future<Integer> f : pool.invokeAll(IntStream.range(0, 100).mapToObj(i -> (Callable<Integer>) () -> i).collect(Collectors.toList())))
			sum += f.get();
		pool.shutdown();
		System.out.println("pool " + sum);
		System.out.println("parallel " + IntStream.range(0, 100000).parallel().filter(i -> i % 3 == 0).count());
		HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
		server.createContext("/", x -> { x.sendResponseHeaders(200, 6); x.getResponseBody().write("served".getBytes()); x.close(); });
		server.start();
		HttpResponse<String> r = HttpClient.newHttpClient().send(
			HttpRequest.newBuilder(URI.create("http:" + "//127.0.0.1:" + server.getAddress().getPort() + "/")).build(),
			HttpResponse.BodyHandlers.ofString());
		System.out.println("http " + r.body());
		server.stop(0);
		Process p = new ProcessBuilder("/bin/echo", "child").start();
		System.out.println(new String(p.getInputStream().readAllBytes()).trim() + " " + p.waitFor());
		byte[][] garbage = new byte[64][];
		for (int i = 0; i < 4000; i++) garbage[i % 64] = new byte[1 << 20];
		Files.writeString(Path.of("file"), "x");
		System.out.println("gc " + garbage.length + " " + (Runtime.getRuntime().availableProcessors() <= 2));
		System.exit(0);
	}
}
"""
# Not @host: Debian keeps the JDK's own settings in /etc, of which @host shows nothing.
image = tools("java", "javac", "tar", host=False)
runs("java in 512 MiB", run_in(image, "java -version 2>&1 | head -n1 | grep -c version"), "1\n")
runs("javac and java", run_in(image, "javac -J-Xmx256m Main.java && exec java -Xmx256m Main", *BUILDS, files={"Main.java": PROGRAM}),
     "pool 4950\nparallel 33334\nhttp served\nchild 0\ngc 64 true\n")
done()
