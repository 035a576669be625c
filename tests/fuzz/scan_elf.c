/* Any bytes as an ELF file: every text ends, and is of letters that a terminal only shows. */
#include "pipeline/scan/elf.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char text[ELF_TEXT])
{
	const char *end = memchr(text, '\0', ELF_TEXT);
	if (!end)
		abort();
	for (; text < end; text++)
		if (*text < 0x20 || *text >= 0x7f)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err e = ERR_INIT;
	struct elf f;
	if (elf_parse((const char *)data, size, &f, &e) < 0) {
		for (const char *c = e.msg; *c; c++)
			if (*c < 0x20 || *c >= 0x7f)
				abort();
		return 0;
	}
	check(f.type);
	check(f.machine);
	check(f.interpreter);
	for (size_t i = 0; i < f.needed_len && i < ELF_NEEDED_MAX; i++)
		check(f.needed[i]);
	for (size_t i = 0; i < f.imports_len; i++)
		check(f.imports[i]);
	return 0;
}
