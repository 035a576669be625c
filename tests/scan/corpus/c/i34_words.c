#include <stdio.h>
#include <string.h>
static const char *const words[] = {"system", "popen", "execve"};
static const struct { const char *name; int id; } rows[] = {{"system", 1}, {.name = "popen", .id = 2}};
int main(int argc, char **argv)
{
	puts("system");
	return strcmp(argv[0], "popen") + (int)sizeof(words) + rows[0].id;
}
