/* The receiver, in pid 1: files by descriptors of folders that it has just made, no name with a slash in it. */
#include "transfer/inputs.h"

#include "base/fd.h"
#include "transfer/stream.h"
#include "transfer/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Spliced from here on, rather than copied through the buffer. */
enum { SPLICE_BYTES = 128 << 10 };

struct receiver {
	int from, scratch;
	char *buf; /* STREAM_BUFFER */
	size_t begin, end;
	int folders[WALK_DEPTH_MAX + 1]; /* the first: where the input's own name goes */
	size_t depth;
	int file; /* between FILE and FILE_END, else -1 */
	struct stream_record head;
	char name[PATH_MAX], text[PATH_MAX];
};

static int cut_short(struct err *e)
{
	return err_host(e, "inputs: the stream ended too early");
}

/* At least need bytes in the buffer. */
static int fill(struct receiver *r, size_t need, struct err *e)
{
	if (r->end - r->begin >= need)
		return 0;
	memmove(r->buf, r->buf + r->begin, r->end - r->begin);
	r->end -= r->begin;
	r->begin = 0;
	while (r->end < need) {
		const ssize_t n = read(r->from, r->buf + r->end, STREAM_BUFFER - r->end);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? err_sys(e, "inputs: read the stream") : cut_short(e);
		r->end += (size_t)n;
	}
	return 0;
}

static int take_text(struct receiver *r, char *to, size_t len, struct err *e)
{
	if (len >= PATH_MAX)
		return err_bug(e, "inputs: a name of %zu bytes", len);
	if (fill(r, len, e) < 0)
		return -1;
	memcpy(to, r->buf + r->begin, len);
	to[len] = '\0';
	r->begin += len;
	return strlen(to) == len ? 0 : err_bug(e, "inputs: a name with a NUL");
}

static int take_record(struct receiver *r, struct stream_record *h, struct err *e)
{
	if (fill(r, sizeof(*h), e) < 0)
		return -1;
	memcpy(h, r->buf + r->begin, sizeof(*h));
	r->begin += sizeof(*h);
	if (take_text(r, r->name, h->name_len, e) < 0 || take_text(r, r->text, h->text_len, e) < 0)
		return -1;
	const bool path = h->type == STREAM_INPUT;
	if (!path && (strchr(r->name, '/') || strcmp(r->name, "..") == 0))
		return err_bug(e, "inputs: a name that is a path");
	return 0;
}

static int cannot(const struct receiver *r, const char *what, struct err *e)
{
	if (errno == ENOSPC)
		return err_usage(e,
				 "the inputs do not fit into the scratch (at %s); raise --scratch or "
				 "--scratch-inodes",
				 r->name);
	return err_sys(e, "inputs: %s %s", what, r->name);
}

static int keep_time(int fd, const struct receiver *r, const struct stream_record *h, struct err *e)
{
	const struct timespec t[2] = {{.tv_nsec = UTIME_OMIT}, {h->sec, (long)h->nsec}};
	return futimens(fd, t) < 0 ? cannot(r, "set the time of", e) : 0;
}

static int folder(const struct receiver *r)
{
	return r->folders[r->depth - 1];
}

/* ---- files ---- */

/* umask is 0; set-id bits go with a write by whoever has no capability, so they are set again. */
static int make_file(struct receiver *r, const struct stream_record *h, struct err *e)
{
	const int fd = openat(folder(r), r->name,
			      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, h->mode);
	return fd < 0 ? cannot(r, "make", e) : fd;
}

static int finish_file(struct receiver *r, int fd, const struct stream_record *h, struct err *e)
{
	if ((h->mode & 07000) && fchmod(fd, h->mode) < 0)
		return cannot(r, "set the mode of", e);
	return keep_time(fd, r, h, e);
}

/* len bytes of the buffer, which are taken out of it. */
static int write_some(struct receiver *r, int fd, off_t *at, size_t len, struct err *e)
{
	while (len > 0) {
		const ssize_t n = pwrite(fd, r->buf + r->begin, len, *at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return cannot(r, "write", e);
		r->begin += (size_t)n;
		len -= (size_t)n;
		*at += n;
	}
	return 0;
}

static int splice_some(struct receiver *r, int fd, off_t *at, uint64_t *left, struct err *e)
{
	const size_t want = *left < STREAM_CHUNK ? (size_t)*left : STREAM_CHUNK;
	ssize_t n;
	do
		n = splice(r->from, NULL, fd, at, want, 0);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 ? cannot(r, "write", e) : cut_short(e);
	*left -= (uint64_t)n;
	return 0;
}

/* left bytes of the stream at that place of fd. */
static int take_data(struct receiver *r, int fd, off_t at, uint64_t left, struct err *e)
{
	while (left > 0) {
		if (r->begin == r->end && left >= SPLICE_BYTES) {
			if (splice_some(r, fd, &at, &left, e) < 0)
				return -1;
			continue;
		}
		if (fill(r, 1, e) < 0)
			return -1;
		size_t len = r->end - r->begin;
		if (len > left)
			len = (size_t)left;
		if (write_some(r, fd, &at, len, e) < 0)
			return -1;
		left -= len;
	}
	return 0;
}

static int on_inline(struct receiver *r, const struct stream_record *h, struct err *e)
{
	autoclose int fd = make_file(r, h, e);
	if (fd < 0 || take_data(r, fd, 0, h->size, e) < 0)
		return -1;
	return finish_file(r, fd, h, e);
}

static int on_file(struct receiver *r, const struct stream_record *h, struct err *e)
{
	r->file = make_file(r, h, e);
	r->head = *h;
	if (r->file < 0)
		return -1;
	return ftruncate(r->file, (off_t)h->size) < 0 ? cannot(r, "size", e) : 0;
}

static int on_data(struct receiver *r, const struct stream_record *h, struct err *e)
{
	if (r->file < 0)
		return err_bug(e, "inputs: data without a file");
	return take_data(r, r->file, (off_t)h->offset, h->size, e);
}

static int on_file_end(struct receiver *r, const struct stream_record *h, struct err *e)
{
	(void)h;
	if (r->file < 0)
		return err_bug(e, "inputs: the end of no file");
	const int rc = finish_file(r, r->file, &r->head, e);
	fd_close(&r->file);
	return rc;
}

/* ---- folders and links ---- */

static int push(struct receiver *r, int fd, struct err *e)
{
	if (fd < 0)
		return cannot(r, "open", e);
	if (r->depth == WALK_DEPTH_MAX + 1) {
		close(fd);
		return err_bug(e, "inputs: too deep");
	}
	r->folders[r->depth++] = fd;
	return 0;
}

static int open_folder(int dir, const char *name)
{
	return openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int on_folder(struct receiver *r, const struct stream_record *h, struct err *e)
{
	(void)h;
	if (mkdirat(folder(r), r->name, 0700) < 0)
		return cannot(r, "make the folder", e);
	return push(r, open_folder(folder(r), r->name), e);
}

/* The mode last, which may be one that nothing can be made under; the time, which every entry changed. */
static int on_leave(struct receiver *r, const struct stream_record *h, struct err *e)
{
	if (r->depth < 2)
		return err_bug(e, "inputs: the end of no folder");
	autoclose int fd = r->folders[--r->depth];
	if (keep_time(fd, r, h, e) < 0)
		return -1;
	return fchmod(fd, h->mode) < 0 ? cannot(r, "set the mode of", e) : 0;
}

static int on_link(struct receiver *r, const struct stream_record *h, struct err *e)
{
	const struct timespec t[2] = {{.tv_nsec = UTIME_OMIT}, {h->sec, (long)h->nsec}};
	if (symlinkat(r->text, folder(r), r->name) < 0)
		return cannot(r, "make the link", e);
	if (utimensat(folder(r), r->name, t, AT_SYMLINK_NOFOLLOW) < 0)
		return cannot(r, "set the time of", e);
	return 0;
}

static int on_hard_link(struct receiver *r, const struct stream_record *h, struct err *e)
{
	(void)h;
	/* Its folders are ours, just made and still 0700 or done with; no link among them. */
	if (linkat(r->folders[0], r->text, folder(r), r->name, 0) < 0)
		return cannot(r, "link", e);
	return 0;
}

/* Folders on the way to the destination; what an input made already may be entered. */
static int on_input(struct receiver *r, const struct stream_record *h, struct err *e)
{
	char path[PATH_MAX];
	while (r->depth > 0)
		close(r->folders[--r->depth]);
	if (push(r, open_folder(r->scratch, h->mode ? "input" : "scratch"), e) < 0)
		return -1;
	snprintf(path, sizeof(path), "%s", r->name);
	char *at = path;
	for (char *slash; (slash = strchr(at, '/')); at = slash + 1) {
		*slash = '\0';
		if (mkdirat(r->folders[0], at, 0755) < 0 && errno != EEXIST)
			return cannot(r, "make a folder for", e);
		const int next = open_folder(r->folders[0], at);
		if (next < 0)
			return cannot(r, "open a folder for", e);
		close(r->folders[0]);
		r->folders[0] = next;
	}
	return 0;
}

typedef int handler_fn(struct receiver *, const struct stream_record *, struct err *);

static handler_fn *const handlers[STREAM_END] = {
	[STREAM_INPUT] = on_input,	   [STREAM_FOLDER] = on_folder,
	[STREAM_LEAVE] = on_leave,	   [STREAM_INLINE] = on_inline,
	[STREAM_FILE] = on_file,	   [STREAM_DATA] = on_data,
	[STREAM_FILE_END] = on_file_end,   [STREAM_LINK] = on_link,
	[STREAM_HARD_LINK] = on_hard_link,
};

static int receive(struct receiver *r, struct err *e)
{
	struct stream_record h;
	for (;;) {
		if (take_record(r, &h, e) < 0)
			return -1;
		if (h.type == STREAM_END)
			return 0;
		if (h.type == 0 || h.type > STREAM_END || (h.type != STREAM_INPUT && r->depth == 0))
			return err_bug(e, "inputs: record %u", h.type);
		if (handlers[h.type](r, &h, e) < 0)
			return -1;
	}
}

int inputs_receive(int from, int scratch, struct err *e)
{
	struct receiver r = {.from = from, .scratch = scratch, .file = -1};
	r.buf = mmap(NULL, STREAM_BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r.buf == MAP_FAILED)
		return err_sys(e, "inputs: a buffer");
	const int rc = receive(&r, e);
	munmap(r.buf, STREAM_BUFFER);
	fd_close(&r.file);
	while (r.depth > 0)
		close(r.folders[--r.depth]);
	return rc;
}
