record Point(double x, double y) {
	Point move(double by) {
		return new Point(x + by, y);
	}
}
