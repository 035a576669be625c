/* Whether bytes of a stranger's are of the type that was declared. No system call but memory; for a jailed process. */
#ifndef PINFOLD_TRANSFER_CHECK_H
#define PINFOLD_TRANSFER_CHECK_H

#include "base/err.h"
#include "spec/transfer.h"
#include "transfer/json.h"

#include <stddef.h>

enum { CSV_COLUMNS_MAX = 4096, CSV_RECORD_MAX = 1 << 20, PNG_CHUNKS_MAX = 65536 };

struct checked {
	const unsigned char *bytes;
	size_t len;
};

/* ERR_USAGE: "not csv: ...", "does not fit the schema: ...", with what is wrong and where. schema: NULL none; for JSON alone. */
int check_bytes(enum artifact_type type, const struct checked *c, const struct tree *schema,
		struct err *e);

/* UTF-8 without controls but tab, newline, form feed and carriage return. */
int check_text(const struct checked *c, struct err *e);
/* RFC 4180: text, each record with as many fields as the first, quotes doubled in quoted fields. */
int check_csv(const struct checked *c, struct err *e);
/* PNG (third edition), 5 and 11: signature, chunks with their CRC in their order, IHDR's values. */
int check_png(const struct checked *c, struct err *e);
/* gABI: the header, and that both tables lie in the file. */
int check_elf(const struct checked *c, struct err *e);

#endif
