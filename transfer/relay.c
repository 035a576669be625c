#include "transfer/relay.h"

#include "base/fd.h"
#include "spec/parse.h"
#include "transfer/reader.h"
#include "transfer/walk.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { PAGE = 4096, SHORT_LINK = 127, MODES = 07777, NS_IN_SECOND = 1000000000 };

struct passing {
	const struct relay *w;
	struct reader in;
	size_t out_len;
	size_t depth, least; /* folders that are open; least: the archive's own */
	bool in_file;
	uint64_t size, at,
		charged; /* of that file: its size, where data may come, what is paid for */
};

/* ---- out ---- */

static int flush(struct passing *p, struct err *e)
{
	const int rc = fd_write_all(p->w->to, p->w->out, p->out_len);
	p->out_len = 0;
	return rc < 0 ? err_sys(e, "inputs: write to the sandbox") : 0;
}

static int put_bytes(struct passing *p, const void *bytes, size_t len, struct err *e)
{
	if (STREAM_BUFFER - p->out_len < len && flush(p, e) < 0)
		return -1;
	memcpy(p->w->out + p->out_len, bytes, len);
	p->out_len += len;
	return 0;
}

static int put(struct passing *p, struct stream_record h, const char *name, const char *text,
	       struct err *e)
{
	h.name_len = (uint16_t)strlen(name);
	h.text_len = (uint16_t)strlen(text);
	if (put_bytes(p, &h, sizeof(h), e) < 0 || put_bytes(p, name, h.name_len, e) < 0)
		return -1;
	return put_bytes(p, text, h.text_len, e);
}

/* ---- what is held against its range ---- */

static int nonsense(const struct passing *p, struct err *e)
{
	return err_host(e, "input %s: its unpacker said what makes no sense", p->w->input->source);
}

static int refuse(const struct passing *p, struct err *e, const char *why)
{
	return err_usage(e, "input %s is not unpacked: %s", p->w->input->source, why);
}

static int spend_inode(const struct passing *p, struct err *e)
{
	struct input_budget *left = p->w->left;
	if (left->inodes == 0)
		return err_usage(e,
				 "input %s: it has more names than the %llu files and folders that are "
				 "left of the scratch for archives; raise --scratch-inodes",
				 p->w->input->source, (unsigned long long)left->inodes_first);
	left->inodes--;
	return 0;
}

static int spend_bytes(const struct passing *p, uint64_t bytes, struct err *e)
{
	struct input_budget *left = p->w->left;
	if (bytes > left->bytes)
		return err_usage(e,
				 "input %s: unpacked it takes more than the %llu bytes (%llu MiB) that are "
				 "left of the scratch for archives; raise --scratch",
				 p->w->input->source, (unsigned long long)left->bytes_first,
				 (unsigned long long)(left->bytes_first >> 20));
	left->bytes -= bytes;
	return 0;
}

static uint64_t pages(uint64_t bytes)
{
	return (bytes + PAGE - 1) / PAGE * PAGE;
}

static bool name_makes_sense(const char *name)
{
	const size_t len = strlen(name);
	return len > 0 && len <= NAME_MAX && !strchr(name, '/') && strcmp(name, ".") != 0 &&
	       strcmp(name, "..") != 0;
}

/* A relative path of such names. */
static bool path_makes_sense(const char *path)
{
	char name[NAME_MAX + 1];
	for (const char *at = path;; at++) {
		const size_t len = strcspn(at, "/");
		if (len > NAME_MAX)
			return false;
		memcpy(name, at, len);
		name[len] = '\0';
		if (!name_makes_sense(name))
			return false;
		at += len;
		if (!*at)
			return true;
	}
}

/* ---- records ---- */

/* size bytes of the stream, on to pid 1. */
static int pass_data(struct passing *p, uint64_t left, struct err *e)
{
	while (left > 0) {
		const char *bytes;
		ssize_t n;
		if (reader_may_splice(&p->in, left)) {
			if (p->out_len > 0 && flush(p, e) < 0)
				return -1;
			n = reader_splice(&p->in, p->w->to, NULL, left);
			if (n <= 0)
				return n < 0 ? err_sys(e, "inputs: write to the sandbox")
					     : reader_cut_short(e);
		} else {
			n = reader_some(&p->in, left, &bytes, e);
			if (n < 0 || put_bytes(p, bytes, (size_t)n, e) < 0)
				return -1;
		}
		left -= (uint64_t)n;
	}
	return 0;
}

static int on_folder(struct passing *p, const struct stream_record *h, struct err *e)
{
	if (p->depth == WALK_DEPTH_MAX) {
		char why[64];
		snprintf(why, sizeof(why), "folders are nested deeper than %d", WALK_DEPTH_MAX);
		return refuse(p, e, why);
	}
	if (h->type == STREAM_FOLDER && spend_inode(p, e) < 0)
		return -1;
	p->depth++;
	return put(p, *h, p->in.name, "", e);
}

static int on_leave(struct passing *p, const struct stream_record *h, struct err *e)
{
	if (p->depth <= p->least)
		return nonsense(p, e);
	p->depth--;
	return put(p, *h, "", "", e);
}

static int on_inline(struct passing *p, const struct stream_record *h, struct err *e)
{
	if (h->size > STREAM_SMALL)
		return nonsense(p, e);
	if (spend_inode(p, e) < 0 || spend_bytes(p, pages(h->size), e) < 0 ||
	    put(p, *h, p->in.name, "", e) < 0)
		return -1;
	return pass_data(p, h->size, e);
}

static int on_file(struct passing *p, const struct stream_record *h, struct err *e)
{
	if (h->size > INT64_MAX)
		return nonsense(p, e);
	if (spend_inode(p, e) < 0)
		return -1;
	p->in_file = true;
	p->size = h->size;
	p->at = p->charged = 0;
	return put(p, *h, p->in.name, "", e);
}

/* In order and within the file; each page is paid for once. */
static int on_data(struct passing *p, const struct stream_record *h, struct err *e)
{
	if (h->offset < p->at || h->offset > p->size || h->size > p->size - h->offset)
		return nonsense(p, e);
	const uint64_t first = h->offset / PAGE * PAGE, end = pages(h->offset + h->size);
	const uint64_t from = first > p->charged ? first : p->charged;
	if (end > from && h->size > 0) {
		if (spend_bytes(p, end - from, e) < 0)
			return -1;
		p->charged = end;
	}
	p->at = h->offset + h->size;
	return put(p, *h, "", "", e) < 0 ? -1 : pass_data(p, h->size, e);
}

static int on_file_end(struct passing *p, const struct stream_record *h, struct err *e)
{
	p->in_file = false;
	return put(p, *h, "", "", e);
}

static int on_link(struct passing *p, const struct stream_record *h, struct err *e)
{
	const size_t len = strlen(p->in.text);
	if (len == 0)
		return nonsense(p, e);
	if (spend_inode(p, e) < 0 || spend_bytes(p, len > SHORT_LINK ? PAGE : 0, e) < 0)
		return -1;
	return put(p, *h, p->in.name, p->in.text, e);
}

/* Out of the unpacker it names the first one from the archive's own folder on. */
static int on_hard_link(struct passing *p, const struct stream_record *h, struct err *e)
{
	char path[2 * PATH_MAX];
	const char *top = input_name(p->w->input);
	if (!path_makes_sense(p->in.text))
		return nonsense(p, e);
	const int len = snprintf(path, sizeof(path), "%s%s%s", p->least ? top : "",
				 p->least ? "/" : "", p->in.text);
	if (len >= PATH_MAX)
		return refuse(p, e, "a path in it is longer than 4095 bytes");
	return spend_inode(p, e) < 0 ? -1 : put(p, *h, p->in.name, path, e);
}

static int on_refused(struct passing *p, const struct stream_record *h, struct err *e)
{
	char safe[PATH_MAX];
	size_t used = 0;
	/* Its words go to a terminal. */
	for (const char *c = p->in.text; *c; c++)
		safe[used++] = *c >= ' ' && *c <= '~' ? *c : '?';
	safe[used] = '\0';
	refuse(p, e, safe);
	e->kind = h->mode == ERR_HOST ? ERR_HOST : ERR_USAGE;
	return -1;
}

typedef int handler_fn(struct passing *, const struct stream_record *, struct err *);

static const struct handler {
	handler_fn *run;
	bool named, in_file, texted;
} handlers[STREAM_REFUSED + 1] = {
	[STREAM_FOLDER] = {on_folder, true},
	[STREAM_ENTER] = {on_folder, true},
	[STREAM_LEAVE] = {on_leave},
	[STREAM_BACK] = {on_leave},
	[STREAM_INLINE] = {on_inline, true},
	[STREAM_FILE] = {on_file, true},
	[STREAM_DATA] = {on_data, .in_file = true},
	[STREAM_FILE_END] = {on_file_end, .in_file = true},
	[STREAM_LINK] = {on_link, true, .texted = true},
	[STREAM_HARD_LINK] = {on_hard_link, true, .texted = true},
	[STREAM_REFUSED] = {on_refused, .texted = true},
};

static bool makes_sense(const struct passing *p, const struct stream_record *h)
{
	if (h->type > STREAM_REFUSED || !handlers[h->type].run)
		return false;
	const struct handler *own = &handlers[h->type];
	if (h->type != STREAM_REFUSED && (own->in_file != p->in_file || h->mode & ~(unsigned)MODES))
		return false;
	return h->nsec < NS_IN_SECOND && own->texted == (h->text_len > 0) &&
	       (own->named ? name_makes_sense(p->in.name) : h->name_len == 0);
}

static int pass_all(struct passing *p, struct err *e)
{
	struct stream_record h;
	for (;;) {
		if (reader_record(&p->in, &h, e) < 0)
			return err_wrap(e, "input %s: its unpacker ended early", p->w->input->source);
		if (h.type == STREAM_END && !p->in_file && p->depth == p->least)
			return 0;
		if (!makes_sense(p, &h))
			return nonsense(p, e);
		if (handlers[h.type].run(p, &h, e) < 0)
			return -1;
	}
}

int relay_archive(const struct relay *relay, struct err *e)
{
	struct passing p = {.w = relay, .in = {.from = relay->from, .buf = relay->in}};
	const struct input *in = relay->input;
	const bool own = strcmp(in->target, ".") != 0;
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	const struct stream_record begin = {.type = STREAM_INPUT,
					    .mode = (in->read_only ? STREAM_READ_ONLY : 0) |
						    STREAM_UNPACKED};
	struct stream_record folder = {.type = STREAM_FOLDER,
				       .mode = 0755,
				       .sec = now.tv_sec,
				       .nsec = (uint32_t)now.tv_nsec};
	p.depth = p.least = own;
	if (put(&p, begin, in->target, "", e) < 0 ||
	    (own && put(&p, folder, input_name(in), "", e) < 0) || pass_all(&p, e) < 0)
		return -1;
	folder.type = STREAM_LEAVE;
	return own && put(&p, folder, "", "", e) < 0 ? -1 : flush(&p, e);
}
