#include <cstdio>
#include <functional>
int main()
{
	std::function<FILE *(const char *)> f = [](const char *c) { return popen(c, "r"); }; // FIND: c.process
	return f("id") != nullptr;
}
