#include <filesystem>
#include <fstream>
#include <string>
int main()
{
	std::ifstream in{"/etc/passwd"}; // FIND: cpp.outside-file
	std::ofstream out(std::string("/root/") + ".bashrc"); // FIND: cpp.outside-file
	std::filesystem::copy("/etc", "x"); // FIND: c.outside-file
	std::fstream f;
	f.open("/proc/self/mem"); // FIND: cpp.outside-file
}
