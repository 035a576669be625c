#include "runtime/cpus.h"

#include <stdio.h>

void cpus_window(cpu_set_t *window, const cpu_set_t *allowed, unsigned want, unsigned first)
{
	unsigned got = 0;
	CPU_ZERO(window);
	for (unsigned i = 0; i < CPU_SETSIZE && got < want; i++) {
		const unsigned cpu = (first + i) % CPU_SETSIZE;
		if (!CPU_ISSET(cpu, allowed))
			continue;
		CPU_SET(cpu, window);
		got++;
	}
}

void cpus_list(char *text, size_t size, const cpu_set_t *set)
{
	size_t used = 0;
	text[0] = '\0';
	for (int cpu = 0; cpu < CPU_SETSIZE && used + 32 < size; cpu++) {
		if (!CPU_ISSET(cpu, set))
			continue;
		int last = cpu;
		while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set))
			last++;
		const char *comma = used ? "," : "";
		int n = last > cpu ? snprintf(text + used, size - used, "%s%d-%d", comma, cpu, last)
				   : snprintf(text + used, size - used, "%s%d", comma, cpu);
		used += (size_t)n;
		cpu = last;
	}
}
