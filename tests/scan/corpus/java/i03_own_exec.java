class Machine {
	int exec(String name) {
		return name.length();
	}
	int start() {
		return exec("turn") + new Machine().exec("stop");
	}
}
