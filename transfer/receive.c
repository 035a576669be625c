/* The receiver, in pid 1: files by descriptors of folders that it has just made, no name with a slash in it. */
#include "transfer/inputs.h"

#include "base/fd.h"
#include "transfer/reader.h"
#include "transfer/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct receiver {
	int scratch;
	struct reader in;
	int64_t *begun;			 /* inputs */
	int folders[WALK_DEPTH_MAX + 1]; /* the first: where the input's own name goes */
	size_t depth;
	bool unpacked; /* what comes is in an archive's order */
	int file;      /* between FILE and FILE_END, else -1 */
	struct stream_record head;
};

static int cannot(const struct receiver *r, const char *what, struct err *e)
{
	if (errno == ENOSPC)
		return err_usage(e,
				 "the inputs do not fit into the scratch (at %s); raise --scratch or "
				 "--scratch-inodes",
				 r->in.name);
	if (errno == EEXIST)
		return err_usage(e,
				 "inputs: %s %s: there is one already, of another input or of the "
				 "same archive",
				 what, r->in.name);
	err_sys(e, "inputs: %s %s", what, r->in.name);
	if (r->unpacked) /* what the archive says cannot be done: it is to blame */
		e->kind = ERR_USAGE;
	return -1;
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

/* Of two entries of one name in an archive the last one counts; at its top there may be what
 * another input has made, which stays. Folders are not replaced. True: try once more. */
static bool replaces(const struct receiver *r)
{
	return errno == EEXIST && r->unpacked && r->depth > 1 &&
	       unlinkat(folder(r), r->in.name, 0) == 0;
}

/* umask is 0; set-id bits go with a write by whoever has no capability, so they are set again. */
static int make_file(struct receiver *r, const struct stream_record *h, struct err *e)
{
	int fd;
	do
		fd = openat(folder(r), r->in.name,
			    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, h->mode);
	while (fd < 0 && replaces(r));
	return fd < 0 ? cannot(r, "make", e) : fd;
}

static int finish_file(struct receiver *r, int fd, const struct stream_record *h, struct err *e)
{
	if ((h->mode & 07000) && fchmod(fd, h->mode) < 0)
		return cannot(r, "set the mode of", e);
	return keep_time(fd, r, h, e);
}

/* What the reader has of it, up to left bytes: how many. */
static ssize_t write_some(struct receiver *r, int fd, off_t at, uint64_t left, struct err *e)
{
	const char *bytes;
	const ssize_t len = reader_some(&r->in, left, &bytes, e);
	for (ssize_t done = 0, n; done < len; done += n) {
		do
			n = pwrite(fd, bytes + done, (size_t)(len - done), at + done);
		while (n < 0 && errno == EINTR);
		if (n <= 0)
			return cannot(r, "write", e);
	}
	return len;
}

/* left bytes of the stream at that place of fd. */
static int take_data(struct receiver *r, int fd, off_t at, uint64_t left, struct err *e)
{
	while (left > 0) {
		ssize_t n;
		if (reader_may_splice(&r->in, left)) {
			n = reader_splice(&r->in, fd, &at, left);
			if (n <= 0)
				return n < 0 ? cannot(r, "write", e) : reader_cut_short(e);
		} else {
			n = write_some(r, fd, at, left, e);
			if (n < 0)
				return -1;
			at += n;
		}
		left -= (uint64_t)n;
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
	if (mkdirat(folder(r), r->in.name, 0700) < 0)
		return cannot(r, "make the folder", e);
	return push(r, open_folder(folder(r), r->in.name), e);
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

/* Of an archive's folders: one that was made before, and is still as it was made. */
static int on_enter(struct receiver *r, const struct stream_record *h, struct err *e)
{
	(void)h;
	if (!r->unpacked)
		return err_bug(e, "inputs: a folder again");
	return push(r, open_folder(folder(r), r->in.name), e);
}

static int on_back(struct receiver *r, const struct stream_record *h, struct err *e)
{
	(void)h;
	if (!r->unpacked || r->depth < 2)
		return err_bug(e, "inputs: back from no folder");
	close(r->folders[--r->depth]);
	return 0;
}

static int on_link(struct receiver *r, const struct stream_record *h, struct err *e)
{
	const struct timespec t[2] = {{.tv_nsec = UTIME_OMIT}, {h->sec, (long)h->nsec}};
	int rc;
	do
		rc = symlinkat(r->in.text, folder(r), r->in.name);
	while (rc < 0 && replaces(r));
	if (rc < 0)
		return cannot(r, "make the link", e);
	if (utimensat(folder(r), r->in.name, t, AT_SYMLINK_NOFOLLOW) < 0)
		return cannot(r, "set the time of", e);
	return 0;
}

/* Within the input's own place, and through no link: an archive may have one on the way. */
static int on_hard_link(struct receiver *r, const struct stream_record *h, struct err *e)
{
	(void)h;
	char *slash = strrchr(r->in.text, '/');
	const char *name = slash ? slash + 1 : r->in.text;
	if (slash)
		*slash = '\0';
	autoclose int dir = fd_openat2(r->folders[0], slash ? r->in.text : ".",
				       O_PATH | O_DIRECTORY, 0,
				       RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
					       RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV);
	if (dir < 0)
		return cannot(r, "find what is linked as", e);
	int rc;
	do
		rc = linkat(dir, name, folder(r), r->in.name, 0);
	while (rc < 0 && replaces(r));
	return rc < 0 ? cannot(r, "link", e) : 0;
}

/* Folders on the way to the destination; what an input made already may be entered. */
static int on_input(struct receiver *r, const struct stream_record *h, struct err *e)
{
	char path[PATH_MAX];
	while (r->depth > 0)
		close(r->folders[--r->depth]);
	++*r->begun;
	r->unpacked = h->mode & STREAM_UNPACKED;
	if (push(r, open_folder(r->scratch, h->mode & STREAM_READ_ONLY ? "input" : "scratch"), e) < 0)
		return -1;
	snprintf(path, sizeof(path), "%s", r->in.name);
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
	[STREAM_HARD_LINK] = on_hard_link, [STREAM_ENTER] = on_enter,
	[STREAM_BACK] = on_back,
};

static int receive(struct receiver *r, struct err *e)
{
	struct stream_record h;
	for (;;) {
		if (reader_record(&r->in, &h, e) < 0)
			return -1;
		if (h.type == STREAM_END)
			return 0;
		if (h.type == 0 || h.type > STREAM_END || (h.type != STREAM_INPUT && r->depth == 0))
			return err_bug(e, "inputs: record %u", h.type);
		if (handlers[h.type](r, &h, e) < 0)
			return -1;
	}
}

int inputs_receive(int from, int scratch, int64_t *begun, struct err *e)
{
	struct receiver r = {.in = {.from = from}, .begun = begun, .scratch = scratch, .file = -1};
	r.in.buf = mmap(NULL, STREAM_BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	if (r.in.buf == MAP_FAILED)
		return err_sys(e, "inputs: a buffer");
	const int rc = receive(&r, e);
	munmap(r.in.buf, STREAM_BUFFER);
	fd_close(&r.file);
	while (r.depth > 0)
		close(r.folders[--r.depth]);
	return rc;
}
