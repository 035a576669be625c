#include "base/pages.h"

#include <stdint.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 /* 5.14 */
#define MADV_POPULATE_WRITE 23
#endif

enum { PAGE_BYTES = 4096 };

/* The linker's names for the first byte of the image and for what follows the constants. */
extern const char __executable_start[], __GNU_EH_FRAME_HDR[];

static void advise(uintptr_t from, uintptr_t to, int advice)
{
	from &= ~(uintptr_t)(PAGE_BYTES - 1);
	to = (to + PAGE_BYTES - 1) & ~(uintptr_t)(PAGE_BYTES - 1);
	/* Advice: a kernel that does not take it leaves everything as it was. */
	(void)!madvise((void *)from, to - from, advice); /* NOLINT(performance-no-int-to-ptr) */
}

void pages_warm_text(void)
{
	advise((uintptr_t)__executable_start, (uintptr_t)__GNU_EH_FRAME_HDR, MADV_POPULATE_READ);
}

/* The kernel maps the 16 pages around a fault, but not beyond the mapping: advice that differs from piece to
 * piece splits it, so that only what is used comes back. */
void pages_cool_text(void)
{
	const uintptr_t from = (uintptr_t)__executable_start, to = (uintptr_t)__GNU_EH_FRAME_HDR;
	for (uintptr_t at = from; at + PAGE_BYTES < to; at += 2 * (uintptr_t)PAGE_BYTES)
		advise(at, at + PAGE_BYTES, MADV_RANDOM);
	advise(from, to, MADV_DONTNEED);
}

void pages_warm(void *at, size_t len)
{
	advise((uintptr_t)at, (uintptr_t)at + len, MADV_POPULATE_WRITE);
}

void pages_warm_stack(size_t below)
{
	char here;
	pages_warm((char *)(uintptr_t)&here - below, below);
}
