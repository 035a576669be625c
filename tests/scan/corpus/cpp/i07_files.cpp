#include <fstream>
int main()
{
	std::ifstream in("data/input.txt");
	std::ofstream out{"result.txt"};
	out << in.rdbuf();
}
