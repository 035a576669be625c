#include <cstdlib>
template <typename F> int call(F f, const char *words) { return f(words); }
int main()
{
	return call(std::system, "id"); // FIND: c.process
}
