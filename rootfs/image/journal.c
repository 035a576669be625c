#include "rootfs/image/journal.h"

#include "base/fd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Runs of 2 MiB make 256 of it, which sort.c merges at once. */
#define JOURNAL_MAX (512ULL << 20)

/* In front of an item's path and rest, in the file; both are this program's own, so no byte order. */
struct head {
	uint32_t path_len, rest_len;
	uint32_t op, zero;
};

int journal_begin(struct journal *j, int fd, struct err *e)
{
	static const char first[] = "journal\n"; /* so that no item is at 0 */
	*j = (struct journal){.fd = fd, .size = 0, .used = sizeof(first) - 1};
	j->buffer = malloc(JOURNAL_BUFFER_BYTES);
	if (!j->buffer)
		return err_sys(e, "memory for the names of a layer");
	memcpy(j->buffer, first, sizeof(first) - 1);
	return 0;
}

int journal_flush(struct journal *j, struct err *e)
{
	if (fd_write_all(j->fd, j->buffer, j->used) < 0)
		return err_sys(e, "write the journal of the unpacking");
	j->size += j->used;
	j->used = 0;
	return 0;
}

static void put(struct journal *j, const void *bytes, size_t len)
{
	memcpy(j->buffer + j->used, bytes, len);
	j->used += len;
}

int journal_add(struct journal *j, struct journal_item *item, struct err *e)
{
	const struct head h = {.path_len = (uint32_t)item->path_len,
			       .rest_len = (uint32_t)item->rest_len,
			       .op = item->op};
	const size_t len = sizeof(h) + item->path_len + item->rest_len;
	if (len > JOURNAL_ITEM_BYTES)
		return err_bug(e, "an item of %zu bytes for the journal", len);
	if (j->size + j->used + len > JOURNAL_MAX)
		return err_usage(e, "the image's names and attributes are more than 512 MiB");
	if (j->used + len > JOURNAL_BUFFER_BYTES && journal_flush(j, e) < 0)
		return -1;
	item->sequence = j->size + j->used;
	put(j, &h, sizeof(h));
	put(j, item->path, item->path_len);
	put(j, item->rest, item->rest_len);
	return 0;
}

size_t journal_decode(const char *bytes, size_t len, struct journal_item *item)
{
	struct head h;
	if (len < sizeof(h))
		return 0;
	memcpy(&h, bytes, sizeof(h));
	const size_t whole = sizeof(h) + (size_t)h.path_len + h.rest_len;
	if (whole > len)
		return 0;
	*item = (struct journal_item){.op = h.op,
				      .path = bytes + sizeof(h),
				      .path_len = h.path_len,
				      .rest = bytes + sizeof(h) + h.path_len,
				      .rest_len = h.rest_len};
	return whole;
}

int journal_at(const struct journal *j, uint64_t sequence, char *bytes, struct journal_item *item,
	       struct err *e)
{
	ssize_t n;
	do
		n = pread(j->fd, bytes, JOURNAL_ITEM_BYTES, (off_t)sequence);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_sys(e, "read the journal of the unpacking");
	const size_t len = journal_decode(bytes, (size_t)n, item);
	if (!len)
		return err_bug(e, "the journal of the unpacking breaks off");
	item->sequence = sequence;
	return (int)len;
}

void journal_end(struct journal *j)
{
	free(j->buffer);
	j->buffer = NULL;
}
