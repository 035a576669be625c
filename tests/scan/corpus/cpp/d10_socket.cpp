#include <netdb.h>
#include <sys/socket.h>
int main()
{
	addrinfo *found = nullptr;
	::getaddrinfo("c2.example.net", "80", nullptr, &found); // FIND: c.network
	int s = ::socket(AF_INET, SOCK_STREAM, 0); // FIND: c.network
	return ::connect(s, found->ai_addr, found->ai_addrlen); // FIND: c.network
}
