#include <sys/socket.h>
#include <netdb.h>
#include <stdio.h>
int main(void)
{
	struct addrinfo *a;
	getaddrinfo("drop.example.net", "443", 0, &a); /* FIND: c.network */
	int fd = socket(AF_INET, SOCK_STREAM, 0); /* FIND: c.network */
	connect(fd, a->ai_addr, a->ai_addrlen); /* FIND: c.network */
	FILE *f = fopen("/etc/" "shadow", "r"); /* FIND: c.outside-file */
	return f == 0;
}
