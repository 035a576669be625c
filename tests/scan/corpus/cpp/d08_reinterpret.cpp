#include <cstdint>
float bits(std::uint32_t n)
{
	return *reinterpret_cast<float *>(&n); // FIND: cpp.pointer
}
