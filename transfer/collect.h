/* The collector: in a jail, it matches the rules in the dead scratch and writes what they name into a pipe.
 *
 * Records of fixed size, followed by a path or by bytes. Whoever reads them trusts none: see runtime/collect.c.
 */
#ifndef PINFOLD_TRANSFER_COLLECT_H
#define PINFOLD_TRANSFER_COLLECT_H

#include "base/err.h"
#include "spec/transfer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	COLLECT_FILES_MAX = 1024,
	COLLECT_NAMES_MAX = 200000, /* looked at, over all rules */
	COLLECT_PATH_MAX = 4095,
	COLLECT_NAME_MAX = 255,	 /* of an entry of a tree */
	COLLECT_DEPTH_MAX = 128, /* folders in folders, in a tree */
};
#define COLLECT_BYTES_MAX (16ULL << 30)

enum collect_type {
	COLLECT_FILE = 1, /* path; size: apparent. DATA and END follow */
	COLLECT_DATA,	  /* size bytes at offset follow */
	COLLECT_END,	  /* of the file */
	COLLECT_AGAIN,	  /* path: a file that another rule had already */
	COLLECT_REJECT,	  /* path, size, reason */
	COLLECT_CUT,	  /* names were left out: there were too many */
	COLLECT_TREE, /* path; mode with the type. Of a file size, DATA and END follow; of a folder entries; then TREE_END */
	COLLECT_TREE_FOLDER, /* name, mode; its entries and TREE_LEAVE follow. Names ascend in each folder */
	COLLECT_TREE_LEAVE,
	COLLECT_TREE_FILE, /* name, mode, size; DATA and END follow */
	COLLECT_TREE_LINK, /* name; text: its target */
	COLLECT_TREE_OMIT, /* name, reason: it is not part of what is kept */
	COLLECT_TREE_END,  /* reason: why not all of it came; REASON_COUNT: all did */
	COLLECT_DONE,
};

enum collect_reason {
	REASON_MISSING,
	REASON_LINK,
	REASON_FOLDER,
	REASON_FIFO,
	REASON_SOCKET,
	REASON_DEVICE,
	REASON_LARGE,
	REASON_TOTAL,
	REASON_COUNT_FILES,
	REASON_LINK_ABOVE,
	REASON_UNREADABLE,
	REASON_NO_NAME,
	REASON_FILES,
	REASON_DEPTH,
	REASON_LEADS_OUT,
	REASON_NAMES,
	REASON_COUNT,
};

struct collect_record {
	uint32_t type, rule, reason, path_len; /* path_len bytes follow: a path, or a name */
	uint32_t mode, text_len;	       /* and then as many of a text */
	uint64_t size, offset;
};

/* Whether a link leads nowhere but into the tree that it is in, whatever else is in there: relative, and up
 * only at its beginning, by no more folders than it is deep (0: in the tree's own folder). */
bool collect_link_stays(const char *target, size_t depth);

/* root: the tmpfs that the scratch is a folder of. 0, or -1 where to cannot be written to. */
int collect_run(int root, const struct artifact_list *list, int to);

#endif
