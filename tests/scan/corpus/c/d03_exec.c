#include <unistd.h>
int main(int argc, char **argv)
{
	if (fork() == 0) // FIND: c.process
		execvp(argv[1], argv + 1); // FIND: c.process
	return argc;
}
