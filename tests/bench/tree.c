/* A tree of processes for the kill measurements.
 *
 *	tree N       N sleeping children, "ready" on stdout once all are there, then sleep for good
 *	tree sleep   the same with no children
 *	tree burn    no children: the tree is one process that uses cpu
 *
 * The children are plain forks: each has its own page tables, as programs have, and that is what
 * reaping them costs.
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void sleep_for_good(void)
{
	for (;;)
		pause();
}

static void grow(long children)
{
	for (long i = 0; i < children; i++) {
		pid_t pid = fork();
		if (pid < 0)
			err(1, "fork %ld", i);
		if (pid == 0)
			sleep_for_good();
	}
}

int main(int argc, char **argv)
{
	static const char ready[] = "ready\n";
	volatile unsigned long turns = 0;

	if (argc != 2)
		errx(2, "usage: tree N|sleep|burn");
	if (strcmp(argv[1], "sleep") != 0 && strcmp(argv[1], "burn") != 0)
		grow(strtol(argv[1], NULL, 10));
	if (write(1, ready, sizeof(ready) - 1) < 0)
		err(1, "stdout");
	while (strcmp(argv[1], "burn") == 0)
		turns++;
	sleep_for_good();
}
