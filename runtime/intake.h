/* What the collector says, and what becomes of it: shared by collect.c and collect_tree.c. Inside runtime/. */
#ifndef PINFOLD_RUNTIME_INTAKE_H
#define PINFOLD_RUNTIME_INTAKE_H

#include "runtime/hashing.h"
#include "runtime/run.h"
#include "transfer/collect.h"
#include "transfer/store.h"
#include "transfer/tree_store.h"

enum { RULE_KEPT = 1, RULE_BAD = 2 };
enum { INTAKE_AHEAD = 8 << 10 };

struct intake {
	struct run *run;
	int from;
	int64_t until_ns, validating_ns;
	struct store_file file;
	struct artifact_row row; /* of the file or tree that is being taken; its path is its own */
	struct err failed;	 /* why it will not be kept */
	uint32_t rule;		 /* of it */
	uint64_t at, total;
	unsigned files, events;
	bool cut;
	uint8_t *states;		   /* of the rules */
	uint32_t rules[ARTIFACT_ROWS_MAX]; /* that the rows of the result are of */
	struct hashing hashing;
	struct stored {
		struct artifact_row row; /* its path is its own */
		uint32_t rule;
	} stored[HASHING_FILES]; /* whose digests may not be there yet, the oldest first */
	size_t stored_first, stored_len;
	size_t begin, end; /* of what was read ahead: records are short */
	char ahead[INTAKE_AHEAD];
	char path[COLLECT_PATH_MAX + 1];

	bool in_tree, tree_folder; /* none are stored meanwhile */
	struct tree_store tree;
	uint64_t tree_bytes, tree_entries;
	unsigned omitted; /* entries of it */
	char first_omitted[160];
};

extern const char *const collect_reasons[REASON_COUNT];

/* Exactly len bytes, or false: it ended, it took too long, we were told to stop. */
bool intake_take(struct intake *in, void *to, size_t len);
const struct artifact_rule *intake_rule(const struct intake *in);
/* With a path of its own. */
struct artifact_row intake_row(const struct intake *in, uint64_t size);
/* The row says what became of it: it is stored, or why not. */
void intake_judge(struct intake *in, bool stored);
/* One row of the result. Takes row->path. */
void intake_note(struct intake *in, const struct artifact_row *row, uint32_t rule);
/* Files become rows in their order, once their digests are there: until no more than left are waiting. */
void intake_note_stored(struct intake *in, size_t left);
/* Whether a document of this run has that name. */
bool intake_reserved(const struct intake *in, const char *name);

/* One record that begins, or is between two files of, a tree. False: what it says makes no sense. */
bool intake_tree_record(struct intake *in, const struct collect_record *c, bool *within);
void intake_tree_file_end(struct intake *in);
/* No more comes. */
void intake_tree_cut(struct intake *in);

#endif
