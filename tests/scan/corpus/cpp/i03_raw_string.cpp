#include <iostream>
int main()
{
	std::cout << R"(system("rm -rf /"); dlopen("x", 1);)" << "execvp(a, b)";
}
