struct Vec {
	double x, y;
	Vec operator+(const Vec &o) const { return {x + o.x, y + o.y}; }
	double operator()(int i) const { return i ? y : x; }
};
double sum(Vec a) { return (a + a)(0); }
