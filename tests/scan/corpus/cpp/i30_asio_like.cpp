#include <map>
#include <memory>
#include <string>
namespace game {
struct Socket { void connect(int) {} };
struct Engine {
	int system(const std::string &s) { return (int)s.size(); }
	template <class T> T exec(T t) { return t; }
};
}
int main()
{
	game::Engine e;
	auto s = std::make_unique<game::Socket>();
	s->connect(3);
	std::map<std::string, int> m{{"std::system(\"x\")", 1}};
	return e.system("id") + e.exec<int>(2) + (int)m.size();
}
