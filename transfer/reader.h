/* Records of a stream (stream.h) out of a pipe. */
#ifndef PINFOLD_TRANSFER_READER_H
#define PINFOLD_TRANSFER_READER_H

#include "base/err.h"
#include "transfer/stream.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct reader {
	int from;
	char *buf; /* STREAM_BUFFER, borrowed */
	size_t begin, end;
	char name[PATH_MAX], text[PATH_MAX]; /* of the last record */
};

/* One record with its name and its text: both without NUL; the name of all but INPUT is no path, and not
 * "..". -1 and *e, where the stream ended too. */
int reader_record(struct reader *r, struct stream_record *h, struct err *e);

/* Of what follows a record: some that is in the buffer already, up to left bytes and one at least. */
ssize_t reader_some(struct reader *r, uint64_t left, const char **bytes, struct err *e);
/* Whether the rest, of left bytes, is to go from descriptor to descriptor: reader_splice(). */
bool reader_may_splice(const struct reader *r, uint64_t left);
/* Some of it into fd, at *at where it is not NULL. -1 with errno, 0 at the end of the stream. */
ssize_t reader_splice(struct reader *r, int fd, off_t *at, uint64_t left);

/* ERR_HOST: it ended too early. */
int reader_cut_short(struct err *e);

#endif
