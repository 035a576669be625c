class Text {
	static final String HELP = "Runtime.getRuntime().exec(\"x\"); Class.forName(a).newInstance()";
	public static void main(String[] words) {
		System.out.println(HELP);
	}
}
