/* External sorting: runs that fit into memory are sorted there and written one behind the other,
 * then merged with a small window on each. */
#include "rootfs/image/journal.h"

#include "base/fd.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	RUN_BYTES = 2 << 20,
	RUN_ITEMS = 16 << 10,
	WINDOW_BYTES = 16 << 10,
	OUT_BYTES = 64 << 10,
};

/* In front of an item in a run. */
struct head {
	uint64_t sequence, group;
	uint32_t path_len, rest_len;
	uint32_t op, zero;
};

/* What is left of a run, and the part of it that is in memory. */
struct window {
	uint64_t at, end; /* in the file: what was not read yet */
	char *bytes;
	size_t size, from, to;
	struct journal_item item; /* at from */
	size_t item_len;
};

struct sorter {
	const struct journal *journal;
	int fd;
	char *run;   /* RUN_BYTES of the journal */
	char *spare; /* RUN_BYTES for what change() put in place of it */
	size_t spare_used;
	struct journal_item *items;
	size_t items_len;
	char *out;
	size_t out_used;
	uint64_t written;
	struct window *windows; /* a heap, the next item's first */
	size_t windows_len, heap_len;
	bool pending; /* the first window's item was handed out */
};

static unsigned rank(char c)
{
	return c == '/' ? 0 : (unsigned char)c;
}

static int compare(const struct journal_item *a, const struct journal_item *b)
{
	const size_t len = a->path_len < b->path_len ? a->path_len : b->path_len;
	for (size_t i = 0; i < len; i++) {
		if (a->path[i] != b->path[i])
			return rank(a->path[i]) < rank(b->path[i]) ? -1 : 1;
	}
	if (a->path_len != b->path_len)
		return a->path_len < b->path_len ? -1 : 1;
	return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

static int compare_items(const void *a, const void *b)
{
	return compare(a, b);
}

/* ---- making runs ---- */

static int flush_out(struct sorter *s, struct err *e)
{
	if (fd_write_all(s->fd, s->out, s->out_used) < 0)
		return err_sys(e, "write the sorted journal");
	s->written += s->out_used;
	s->out_used = 0;
	return 0;
}

static int put_out(struct sorter *s, const void *bytes, size_t len, struct err *e)
{
	for (const char *from = bytes; len > 0;) {
		const size_t room = OUT_BYTES - s->out_used, part = len < room ? len : room;
		memcpy(s->out + s->out_used, from, part);
		s->out_used += part;
		from += part;
		len -= part;
		if (s->out_used == OUT_BYTES && flush_out(s, e) < 0)
			return -1;
	}
	return 0;
}

static int put_item(struct sorter *s, const struct journal_item *i, struct err *e)
{
	const struct head h = {.sequence = i->sequence,
			       .group = i->group,
			       .path_len = (uint32_t)i->path_len,
			       .rest_len = (uint32_t)i->rest_len,
			       .op = i->op};
	if (put_out(s, &h, sizeof(h), e) < 0 || put_out(s, i->path, i->path_len, e) < 0)
		return -1;
	return put_out(s, i->rest, i->rest_len, e);
}

/* What was collected becomes a run. */
static int end_run(struct sorter *s, struct err *e)
{
	if (s->items_len == 0)
		return 0;
	struct window *more = realloc(s->windows, (s->windows_len + 1) * sizeof(*more));
	if (!more)
		return err_sys(e, "memory for the sorted journal");
	s->windows = more;
	qsort(s->items, s->items_len, sizeof(*s->items), compare_items);
	const uint64_t start = s->written;
	for (size_t i = 0; i < s->items_len; i++) {
		if (put_item(s, &s->items[i], e) < 0)
			return -1;
	}
	if (flush_out(s, e) < 0)
		return -1;
	s->windows[s->windows_len++] = (struct window){.at = start, .end = s->written};
	s->items_len = s->spare_used = 0;
	return 0;
}

/* The item into the run; what change() points to is its own, so that is copied. */
static void keep(struct sorter *s, struct journal_item item, const char *rest)
{
	if (item.rest != rest) {
		memcpy(s->spare + s->spare_used, item.rest, item.rest_len);
		item.rest = s->spare + s->spare_used;
		s->spare_used += item.rest_len;
	}
	s->items[s->items_len++] = item;
}

static ssize_t read_at(int fd, char *to, size_t len, uint64_t at)
{
	ssize_t n;
	do
		n = pread(fd, to, len, (off_t)at);
	while (n < 0 && errno == EINTR);
	return n;
}

static bool run_is_full(const struct sorter *s)
{
	return s->items_len == RUN_ITEMS || s->spare_used + JOURNAL_ITEM_BYTES > RUN_BYTES;
}

int sort_run(struct sorter *s, journal_change *change, void *arg, struct err *e)
{
	/* Behind its first line, which journal_begin() wrote. */
	for (uint64_t at = strlen("journal\n"); at < s->journal->size;) {
		const ssize_t len = read_at(s->journal->fd, s->run, RUN_BYTES, at);
		if (len <= 0)
			return err_sys(e, "read the journal of the unpacking");
		size_t used = 0, step;
		struct journal_item item;
		while (!run_is_full(s) &&
		       (step = journal_decode(s->run + used, (size_t)len - used, &item)) > 0) {
			const char *rest = item.rest;
			item.sequence = at + used;
			if (change(arg, &item, e) < 0)
				return -1;
			keep(s, item, rest);
			used += step;
		}
		if (used == 0)
			return err_bug(e, "the journal of the unpacking breaks off");
		at += used;
		if (end_run(s, e) < 0)
			return -1;
	}
	return 0;
}

/* ---- merging them ---- */

static size_t decode(const struct window *w, struct journal_item *item)
{
	struct head h;
	const size_t len = w->to - w->from;
	if (len < sizeof(h))
		return 0;
	memcpy(&h, w->bytes + w->from, sizeof(h));
	const size_t whole = sizeof(h) + (size_t)h.path_len + h.rest_len;
	if (whole > len)
		return 0;
	*item = (struct journal_item){.sequence = h.sequence,
				      .group = h.group,
				      .op = h.op,
				      .path = w->bytes + w->from + sizeof(h),
				      .path_len = h.path_len,
				      .rest = w->bytes + w->from + sizeof(h) + h.path_len,
				      .rest_len = h.rest_len};
	return whole;
}

/* More bytes into the window, which grows when one item fills it. */
static int refill(const struct sorter *s, struct window *w, struct err *e)
{
	if (w->from > 0)
		memmove(w->bytes, w->bytes + w->from, w->to - w->from);
	w->to -= w->from;
	w->from = 0;
	if (w->to == w->size) {
		const size_t size = w->size ? w->size * 2 : WINDOW_BYTES;
		char *more = realloc(w->bytes, size);
		if (!more)
			return err_sys(e, "memory for the sorted journal");
		w->bytes = more;
		w->size = size;
	}
	const uint64_t left = w->end - w->at;
	const size_t want = left < w->size - w->to ? (size_t)left : w->size - w->to;
	const ssize_t n = read_at(s->fd, w->bytes + w->to, want, w->at);
	if (n <= 0)
		return err_sys(e, "read the sorted journal");
	w->to += (size_t)n;
	w->at += (uint64_t)n;
	return 0;
}

/* w->item becomes the next: 1, 0 at the end of the run, -1. */
static int advance(const struct sorter *s, struct window *w, struct err *e)
{
	w->from += w->item_len;
	while ((w->item_len = decode(w, &w->item)) == 0) {
		if (w->at == w->end)
			return 0;
		if (refill(s, w, e) < 0)
			return -1;
	}
	return 1;
}

static void sink(struct sorter *s, size_t at)
{
	struct window *w = s->windows;
	for (;;) {
		size_t least = at;
		for (size_t child = 2 * at + 1; child <= 2 * at + 2; child++) {
			if (child < s->heap_len && compare(&w[child].item, &w[least].item) < 0)
				least = child;
		}
		if (least == at)
			return;
		const struct window moved = w[at];
		w[at] = w[least];
		w[least] = moved;
		at = least;
	}
}

static int start_merge(struct sorter *s, struct err *e)
{
	for (size_t i = 0; i < s->windows_len; i++) {
		if (advance(s, &s->windows[i], e) < 0)
			return -1;
	}
	s->heap_len = s->windows_len;
	for (size_t i = s->heap_len; i > 0; i--)
		sink(s, i - 1);
	return 0;
}

/* The first window is done with its item, or with all of them. */
static int move_on(struct sorter *s, struct err *e)
{
	const int more = advance(s, &s->windows[0], e);
	if (more < 0)
		return -1;
	if (more == 0) {
		const struct window ended = s->windows[0];
		s->windows[0] = s->windows[--s->heap_len];
		s->windows[s->heap_len] = ended;
	}
	sink(s, 0);
	return 0;
}

int sort_next(struct sorter *s, struct journal_item *item, struct err *e)
{
	if (s->pending ? move_on(s, e) < 0 : start_merge(s, e) < 0)
		return -1;
	s->pending = true;
	if (s->heap_len == 0)
		return 0;
	*item = s->windows[0].item;
	return 1;
}

/* ---- begin and end ---- */

int sort_begin(struct sorter **made, const struct journal *j, int sorted, struct err *e)
{
	struct sorter *s = calloc(1, sizeof(*s));
	if (!s)
		return err_sys(e, "memory for the sorted journal");
	*s = (struct sorter){.journal = j,
			     .fd = sorted,
			     .run = malloc(RUN_BYTES),
			     .spare = malloc(RUN_BYTES),
			     .items = malloc(RUN_ITEMS * sizeof(*s->items)),
			     .out = malloc(OUT_BYTES)};
	if (!s->run || !s->spare || !s->items || !s->out) {
		sort_end(&s);
		return err_sys(e, "memory for the sorted journal");
	}
	*made = s;
	return 0;
}

void sort_end(struct sorter **s)
{
	if (!*s)
		return;
	for (size_t i = 0; i < (*s)->windows_len; i++)
		free((*s)->windows[i].bytes);
	free((*s)->windows);
	free((*s)->run);
	free((*s)->spare);
	free((*s)->items);
	free((*s)->out);
	free(*s);
	*s = NULL;
}
