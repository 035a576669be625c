#include <stddef.h>
enum kind { SYSTEM, FORK };
struct system { int fork, exec; };
static int fork_all(struct system *system) { return system->fork + system->exec; }
static void clone_row(const int *from, int *to) { *to = *from; }
int main(void)
{
	struct system s = {.fork = 1, .exec = 2};
	int a = 0, b = FORK;
	clone_row(&b, &a);
	return fork_all(&s) + a;
}
