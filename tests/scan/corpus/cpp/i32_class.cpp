#include <cstdint>
#include <cstring>
class Process {
public:
	explicit Process(int id) : id_(id) {}
	Process &fork() { id_++; return *this; }
	operator int() const { return id_; }
private:
	int id_;
};
int main()
{
	Process p{3};
	p.fork().fork();
	std::uint32_t x;
	float f = static_cast<float>(p);
	std::memcpy(&x, &f, sizeof x);
	return static_cast<int>(x);
}
