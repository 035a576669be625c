/* What the parts of the collector share. Inside transfer/ only. */
#ifndef PINFOLD_TRANSFER_COLLECTING_H
#define PINFOLD_TRANSFER_COLLECTING_H

#include "transfer/collect.h"

#include <linux/openat2.h>
#include <stdbool.h>
#include <sys/stat.h>

#define BENEATH (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV)

/* Files up to that size are read into the records, rather than passed on by the kernel. */
enum { COLLECT_SMALL = 8 << 10, COLLECT_OUT_BYTES = COLLECT_SMALL + (16 << 10) };

struct collector {
	int to;
	const struct artifact_rule *rule;
	uint32_t number; /* of the rule */
	bool hit;	 /* the rule named something */
	bool broken;	 /* nobody reads any more */
	unsigned names;
	uint64_t total;
	char *sent[COLLECT_FILES_MAX]; /* paths */
	size_t sent_len;
	char path[COLLECT_PATH_MAX + 1];
	size_t out_len;
	char out[COLLECT_OUT_BYTES]; /* records, up to the next flush */
};

/* One record with what follows it; either may be NULL. */
void collect_put(struct collector *c, struct collect_record r, const char *path, const char *text);
/* The rule names something, and it does not come. */
void collect_reject(struct collector *c, enum collect_reason reason, uint64_t size);
/* The data of a file of that size, and its end. */
void collect_bytes(struct collector *c, int fd, uint64_t size);
/* What name in dir is, a folder or a file, with all that is in it. */
void collect_tree(struct collector *c, int dir, const char *name, const struct stat *st);

#endif
