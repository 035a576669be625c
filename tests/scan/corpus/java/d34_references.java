import java.util.function.*;

class References {
	void a() throws Exception {
		Function<String, Class<?>> f = Class::forName; // FIND: java.reflection
		Supplier<Runtime> r = Runtime::getRuntime; // FIND: java.process
		Consumer<String> c = Runtime.getRuntime()::exec; // FIND: java.process
		Consumer<String> l = System::loadLibrary; // FIND: java.native
		Function<String[], Object> p = ProcessBuilder::new; // FIND: java.process
	}
}
