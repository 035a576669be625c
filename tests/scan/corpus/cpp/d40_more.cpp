#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
int main()
{
	std::unique_ptr<FILE, decltype(&pclose)> p(popen("id", "r"), pclose); // FIND: c.process
	std::thread t([] { std::system("id"); }); // FIND: c.process
	auto run = std::system;
	run("id"); // FIND: c.process
	FILE *f = std::fopen("/etc/shadow", "r"); // FIND: c.outside-file
	t.join();
}
