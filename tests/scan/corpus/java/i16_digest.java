class Digest {
	static final String WANTED = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
	static boolean holds(String d) {
		return WANTED.equals(d);
	}
}
