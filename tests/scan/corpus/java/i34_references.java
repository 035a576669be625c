import java.util.*;
import java.util.function.*;

class Methods {
	static String forName(String s) { return s; }
	void exec(String s) { }
	void a(List<String> xs) {
		Function<String, String> f = Methods::forName;
		Consumer<String> c = this::exec;
		Supplier<List<String>> s = ArrayList::new;
		xs.stream().map(f).map(String::trim).forEach(System.out::println);
		xs.forEach(c);
		s.get();
	}
}
