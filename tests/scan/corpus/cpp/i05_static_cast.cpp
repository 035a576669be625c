#include <memory>
struct Base { virtual ~Base() = default; };
struct Leaf : Base {};
Leaf *narrow(Base *b) { return dynamic_cast<Leaf *>(b); }
double ratio(int a, int b) { return static_cast<double>(a) / b; }
