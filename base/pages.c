#include "base/pages.h"

#include <elf.h>
#include <link.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22 /* 5.14 */
#define MADV_POPULATE_WRITE 23
#endif

enum { PAGE_BYTES = 4096 };

static void advise(uintptr_t from, uintptr_t to, int advice)
{
	from &= ~(uintptr_t)(PAGE_BYTES - 1);
	to = (to + PAGE_BYTES - 1) & ~(uintptr_t)(PAGE_BYTES - 1);
	/* Advice: a kernel that does not take it leaves everything as it was. */
	(void)!madvise((void *)from, to - from, advice); /* NOLINT(performance-no-int-to-ptr) */
}

/* Every piece of this program that is mapped from its file and never written: the segments without
 * PF_W (what is relocated or changed lives in one with it, and to drop that would lose it). */
static void each_constant_piece(void (*fn)(uintptr_t from, uintptr_t to, bool code))
{
	const ElfW(Phdr) *const table =
		(const ElfW(Phdr) *)getauxval(AT_PHDR); /* NOLINT(performance-no-int-to-ptr) */
	const size_t count = getauxval(AT_PHNUM);
	if (!table)
		return;
	/* The table follows the ELF header, which is where the image begins. */
	const uintptr_t base = (uintptr_t)table - sizeof(ElfW(Ehdr));
	const ElfW(Phdr) *first = NULL;
	for (const ElfW(Phdr) *p = table; p < table + count; p++) {
		if (p->p_type != PT_LOAD)
			continue;
		if (!first)
			first = p;
		if (!(p->p_flags & PF_W))
			fn(base - first->p_vaddr + p->p_vaddr,
			   base - first->p_vaddr + p->p_vaddr + p->p_memsz, p->p_flags & PF_X);
	}
}

static void warm(uintptr_t from, uintptr_t to, bool code)
{
	/* The linker puts our own code first, then the libraries'; of libc's, which comes last and in the
	 * order of its archive, what a run needs ends about here. The rest is for other locales. */
	const uintptr_t used = (uintptr_t)clone + PAGE_BYTES;
	if (code)
		advise(from, used > from && used < to ? used : to, MADV_POPULATE_READ);
}

/* The kernel maps the 16 pages around a fault, but not beyond the mapping: advice that differs from
 * page to page splits it, so that only what is used comes back. */
static void cool(uintptr_t from, uintptr_t to, bool code)
{
	(void)code;
	to &= ~(uintptr_t)(PAGE_BYTES - 1); /* a page shared with what follows is not ours to drop */
	for (uintptr_t at = from; at + PAGE_BYTES < to; at += 2 * (uintptr_t)PAGE_BYTES)
		advise(at, at + PAGE_BYTES, MADV_RANDOM);
	advise(from, to, MADV_DONTNEED);
}

void pages_warm_text(void)
{
	each_constant_piece(warm);
}

void pages_cool_text(void)
{
	each_constant_piece(cool);
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
