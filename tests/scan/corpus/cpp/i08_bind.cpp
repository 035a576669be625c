#include <functional>
int add(int a, int b) { return a + b; }
int main()
{
	auto f = std::bind(add, 1, std::placeholders::_1);
	return f(2);
}
