#include <filesystem>
int main()
{
	std::filesystem::path p = "out/plots";
	std::filesystem::create_directories("out/plots");
	return p.empty();
}
