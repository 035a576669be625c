/* The same tries where nothing stands in the way. */
#include "tests/attack/hostile_report.h"

#include <stdio.h>

int main(int argc, char **argv)
{
	const char *got = argc == 2 ? hostile_report_try(argv[1]) : NULL;
	return got && puts(got) >= 0 ? 0 : 2;
}
