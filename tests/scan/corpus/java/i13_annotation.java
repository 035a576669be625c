@FunctionalInterface
interface Loader {
	@Deprecated
	String load(String name);
}
