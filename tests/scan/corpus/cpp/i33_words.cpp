#include <iostream>
#include <map>
#include <string>
#define CAT(a, b) a##b
static int own_system(const std::string &s) { return (int)s.size(); }
int main()
{
	std::map<std::string, int> ids{{"system", 1}, {"popen", 2}};
	std::string path = std::string("/etc/") + "passwd";
	std::cout << "system" << ids.at("system") << path;
	return CAT(own_, system)("ls");
}
