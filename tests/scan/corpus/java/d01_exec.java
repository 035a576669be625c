class Run {
	public static void main(String[] words) throws Exception {
		Runtime.getRuntime().exec("id"); // FIND: java.process
	}
}
