/* What a file is, by its name and its first bytes; and how much of it is read. Pure. */
#ifndef PINFOLD_PIPELINE_SCAN_KIND_H
#define PINFOLD_PIPELINE_SCAN_KIND_H

#include "pipeline/scan/language.h"

#include <stddef.h>
#include <stdint.h>

enum kind_name {
	KIND_OTHER, /* data: not looked at */
	KIND_SOURCE,
	KIND_TEXT, /* read for credentials and hooks */
	KIND_NOTEBOOK,
	KIND_RECIPE, /* a Makefile, a Dockerfile */
	KIND_ARCHIVE,
	KIND_ELF,
	KIND_BINARY,
	KIND_BYTECODE,
};

enum {
	KIND_HEAD = 512, /* bytes that are enough to tell */
	SOURCE_BYTES_MAX = 4 << 20,
	TEXT_BYTES_MAX = 1 << 20,
	ARCHIVE_BYTES_MAX = 64 << 20,
};

struct kind {
	enum kind_name name;
	enum language language; /* of SOURCE */
	size_t most; /* bytes; what is larger is too large, but for TEXT, of which the beginning is read */
};

/* name: the last component. head: the first bytes, KIND_HEAD of them where there are so many. */
struct kind kind_of(const char *name, const char *head, size_t len);

#endif
