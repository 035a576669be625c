class Names {
	static String of(Object o) {
		return o.getClass().getSimpleName() + String.class.getName();
	}
}
