#include <filesystem>
namespace fs = std::filesystem;
int main()
{
	fs::remove_all("/home"); // FIND: c.outside-file
	std::filesystem::path p = "/etc"; // FIND: cpp.outside-file
	return fs::exists(p); // FIND: c.outside-file
}
