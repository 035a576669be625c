#pragma once
#include <cstddef>
template <typename T, std::size_t N> class Ring {
public:
	bool push(const T &t);
	std::size_t size() const { return len; }
private:
	T at[N];
	std::size_t len = 0;
};
