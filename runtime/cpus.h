/* The cpus that a run may use, and their list as the kernel writes it. Pure. */
#ifndef PINFOLD_RUNTIME_CPUS_H
#define PINFOLD_RUNTIME_CPUS_H

#include <sched.h>
#include <stddef.h>

enum { CPUS_TEXT = 256 };

/* want cpus of allowed, one after the other, beginning with first (or the next allowed one after
 * it) and going on at the lowest. All of allowed where it has no more than want. */
void cpus_window(cpu_set_t *window, const cpu_set_t *allowed, unsigned want, unsigned first);

/* "0-1,4" in the kernel's list format (cpuset(7), "List format"); what does not fit is left out. */
void cpus_list(char *text, size_t size, const cpu_set_t *set);

#endif
