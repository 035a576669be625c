#include <filesystem>
namespace fs = std::filesystem;
void put()
{
	fs::copy("tool", "/usr/bin/tool"); // FIND: c.outside-file
	fs::rename("a", "b");
}
