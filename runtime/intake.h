/* What the collector says, and what becomes of it: shared by collect.c and collect_tree.c. Inside runtime/. */
#ifndef PINFOLD_RUNTIME_INTAKE_H
#define PINFOLD_RUNTIME_INTAKE_H

#include "runtime/run.h"
#include "transfer/collect.h"
#include "transfer/store.h"
#include "transfer/tree_store.h"

enum { RULE_KEPT = 1, RULE_BAD = 2 };

struct intake {
	struct run *run;
	int from;
	int64_t until_ns;
	struct store_file file;
	struct artifact_row row; /* of the file or tree that is being taken */
	struct err failed;	 /* why it will not be kept */
	uint32_t rule;		 /* of it */
	uint64_t at, total;
	unsigned files, events;
	bool cut;
	uint8_t *states; /* of the rules */
	char *buf;
	char path[COLLECT_PATH_MAX + 1];

	bool in_tree, tree_folder;
	struct tree_store tree;
	uint64_t tree_bytes, tree_entries;
	unsigned omitted; /* entries of it */
	char first_omitted[160];
};

extern const char *const collect_reasons[REASON_COUNT];

/* Exactly len bytes, or false: it ended, it took too long, we were told to stop. */
bool intake_take(struct intake *in, void *to, size_t len);
const struct artifact_rule *intake_rule(const struct intake *in);
struct artifact_row intake_row(const struct intake *in, uint64_t size);
/* One row of the result. */
void intake_note(struct intake *in, const struct artifact_row *row);
/* Whether a document of this run has that name. */
bool intake_reserved(const struct intake *in, const char *name);

/* One record that begins, or is between two files of, a tree. False: what it says makes no sense. */
bool intake_tree_record(struct intake *in, const struct collect_record *c, bool *within);
void intake_tree_file_end(struct intake *in);
/* No more comes. */
void intake_tree_cut(struct intake *in);

#endif
