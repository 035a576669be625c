#include <string.h>
static int socket(int n) { return n + 1; }
static int popen(const char *text) { return (int)strlen(text); }
static const char help[] = "usage: system(3), dlopen(3), /etc/passwd";
int main(void)
{
	return socket(1) + popen("x") + (int)sizeof(help);
}
