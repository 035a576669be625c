#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	FILE *f = fopen("/etc/shadow", "r"); // FIND: c.outside-file
	int fd = open("../../secrets", O_RDONLY); // FIND: c.outside-file
	unlink("/usr/bin/env"); // FIND: c.outside-file
	return f && fd > 0;
}
