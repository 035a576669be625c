class Model {
	double eval(double x) {
		return x * 2;
	}
	static double use(Model m) {
		return m.eval(3) + new Model().eval(4);
	}
}
