#include <arpa/inet.h>
#include <sys/socket.h>
int main(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = 4444};
	int s = socket(AF_INET, SOCK_STREAM, 0); // FIND: c.network
	inet_pton(AF_INET, "192.0.2.9", &to.sin_addr); // FIND: c.network
	return connect(s, (struct sockaddr *)&to, sizeof(to)); // FIND: c.network
}
