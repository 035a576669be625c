#include <fstream>
#include <string>
int main()
{
	std::ifstream in("/etc/passwd"); // FIND: cpp.outside-file
	std::ofstream out{"/root/.bashrc"}; // FIND: cpp.outside-file
	std::string line;
	std::getline(in, line);
	out << line;
}
