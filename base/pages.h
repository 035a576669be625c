/* Pages: have them before they are missed, give them back when nobody needs them.
 *
 * A page fault costs 5 to 20 microseconds where the machine is virtual, and a short-lived process
 * is little else: one madvise(2) for a whole range costs as much as two or three. All of it is
 * advice; failures (a kernel without MADV_POPULATE_*, before 5.14) change nothing but the time.
 */
#ifndef PINFOLD_BASE_PAGES_H
#define PINFOLD_BASE_PAGES_H

#include <stddef.h>

/* Map that part of this program's text, which is in the page cache, that a run will use. */
void pages_warm_text(void);

/* Let go of them: they come back by faults where they are needed. For a process that goes to sleep. */
void pages_cool_text(void);

/* Make [at, at + len) writable memory of our own, copied if it was shared by a fork. */
void pages_warm(void *at, size_t len);

/* The part of the stack that calls from here will use. */
void pages_warm_stack(size_t below);

#endif
