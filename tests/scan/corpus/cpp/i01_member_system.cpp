#include <string>
class Planet {
public:
	std::string system(const char *name) { return name; }
	void open(int) {}
};
int main()
{
	Planet p;
	p.open(3);
	return (int)p.system("solar").size();
}
