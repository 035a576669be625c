#include <ranges>
#include <span>
#include <string_view>
#include <vector>
constexpr std::string_view path = R"(/etc/passwd and system("x"))";
template <typename T> requires (sizeof(T) > 1)
auto total(std::span<const T> v) { T n{}; for (auto x : v) n += x; return n; }
int main()
{
	std::vector<int> v{1, 2, 3};
	auto odd = v | std::views::filter([](int i) { return i & 1; });
	return total<int>(v) + *odd.begin() + (int)path.size();
}
