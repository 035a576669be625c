#include <stdio.h>
int main(void)
{
	char line[80];
	FILE *f = popen("id", "r"); // FIND: c.process
	return f && fgets(line, sizeof(line), f) ? 0 : 1;
}
