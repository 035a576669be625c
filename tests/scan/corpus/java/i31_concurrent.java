import java.util.concurrent.*;
import java.util.stream.*;

class Work {
	private final ExecutorService pool = Executors.newFixedThreadPool(2);
	int go() throws Exception {
		Future<Integer> f = pool.submit(() -> IntStream.range(0, 9).sum());
		pool.execute(() -> System.out.println("exec"));
		return f.get() + Runtime.getRuntime().availableProcessors();
	}
}
