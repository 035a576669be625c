#include <stdio.h>
#define PASSWD "/etc/passwd"
static const char *const hosts = "/etc/hosts";
int main(void)
{
	FILE *a = fopen(PASSWD, "r"); // FIND: c.outside-file
	FILE *b = fopen(hosts, "r"); // FIND: c.outside-file
	return a && b;
}
