/* What an ELF file says of itself (elf(5)), read within bounds by a reader of our own: 32 and 64 bits, both
 * byte orders. Bytes are a stranger's: every offset is checked before it is followed. Pure. */
#ifndef PINFOLD_PIPELINE_SCAN_ELF_H
#define PINFOLD_PIPELINE_SCAN_ELF_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	ELF_TEXT = 96,
	ELF_NEEDED_MAX = 16,
	ELF_IMPORTS_MAX = 24,
	ELF_SYMBOLS_MAX = 200000,
};

struct elf {
	int bits; /* 32, 64 */
	char type[ELF_TEXT], machine[ELF_TEXT];
	char interpreter[ELF_TEXT]; /* "": none */
	char needed[ELF_NEEDED_MAX][ELF_TEXT];
	size_t needed_len; /* may be more than ELF_NEEDED_MAX */
	/* Functions that it takes from elsewhere and that start programs, load code, or reach the network. */
	char imports[ELF_IMPORTS_MAX][ELF_TEXT];
	size_t imports_len;
	bool executable_stack;
};

/* ERR_USAGE: it is no ELF file, or points out of itself. */
int elf_parse(const char *bytes, size_t len, struct elf *to, struct err *e);

#endif
