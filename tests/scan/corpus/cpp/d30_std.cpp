#include <cstdlib>
#include <functional>
namespace s = std;
using std::system;
int main()
{
	s::system("id"); // FIND: c.process
	::system("id"); // FIND: c.process
	auto f = [](const char *c) { return system(c); }; // FIND: c.process
	std::function<int(const char *)> g = std::system;
	auto h = &std::system;
	return f("a") + g("b") + h("c"); // FIND: c.process c.process
}
