#include <cstdlib>
int main()
{
	auto run = std::system;
	return run("id"); // FIND: c.process
}
