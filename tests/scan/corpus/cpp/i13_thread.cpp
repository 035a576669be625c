#include <mutex>
#include <thread>
int main()
{
	std::mutex m;
	std::thread t([&] { std::lock_guard<std::mutex> g(m); });
	t.join();
}
