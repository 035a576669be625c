/* The collector: in a jail, it matches the rules in the dead scratch and writes what they name into a pipe.
 *
 * Records of fixed size, followed by a path or by bytes. Whoever reads them trusts none: see runtime/collect.c.
 */
#ifndef PINFOLD_TRANSFER_COLLECT_H
#define PINFOLD_TRANSFER_COLLECT_H

#include "base/err.h"
#include "spec/transfer.h"

#include <stdint.h>

enum {
	COLLECT_FILES_MAX = 1024,
	COLLECT_NAMES_MAX = 200000, /* looked at, over all rules */
	COLLECT_PATH_MAX = 4095,
};
#define COLLECT_BYTES_MAX (16ULL << 30)

enum collect_type {
	COLLECT_FILE = 1, /* path; size: apparent. DATA and END follow */
	COLLECT_DATA,	  /* size bytes at offset follow */
	COLLECT_END,	  /* of the file */
	COLLECT_AGAIN,	  /* path: a file that another rule had already */
	COLLECT_REJECT,	  /* path, size, reason */
	COLLECT_CUT,	  /* names were left out: there were too many */
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
	REASON_COUNT,
};

struct collect_record {
	uint32_t type, rule, reason, path_len;
	uint64_t size, offset;
};

/* root: the tmpfs that the scratch is a folder of. 0, or -1 where to cannot be written to. */
int collect_run(int root, const struct artifact_list *list, int to);

#endif
