/* The sender: one source after the other into the pipe. */
#include "transfer/inputs.h"

#include "base/fd.h"
#include "transfer/relay.h"
#include "transfer/stream.h"
#include "transfer/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

struct sender {
	int to;
	char *buf; /* STREAM_BUFFER */
	size_t len;
	struct link_table links;
	bool contents_only; /* destination ".": its own folder is not told of */
	const char *shown;
	const struct vet *vet;
};

static int flush(struct sender *s, struct err *e)
{
	const int rc = fd_write_all(s->to, s->buf, s->len);
	s->len = 0;
	return rc < 0 ? err_sys(e, "inputs: write to the sandbox") : 0;
}

/* Room for len bytes, which is no more than the buffer. */
static char *room(struct sender *s, size_t len, struct err *e)
{
	if (STREAM_BUFFER - s->len < len && flush(s, e) < 0)
		return NULL;
	s->len += len;
	return s->buf + s->len - len;
}

static int put(struct sender *s, struct stream_record r, const char *name, const char *text,
	       struct err *e)
{
	r.name_len = (uint16_t)strlen(name);
	r.text_len = (uint16_t)strlen(text);
	char *at = room(s, sizeof(r) + r.name_len + r.text_len, e);
	if (!at)
		return -1;
	memcpy(at, &r, sizeof(r));
	memcpy(at + sizeof(r), name, r.name_len);
	memcpy(at + sizeof(r) + r.name_len, text, r.text_len);
	return 0;
}

static struct stream_record describe(enum stream_type type, const struct stat *st)
{
	return (struct stream_record){.type = type,
				      .mode = st->st_mode & 07777,
				      .size = (uint64_t)st->st_size,
				      .sec = st->st_mtim.tv_sec,
				      .nsec = (uint32_t)st->st_mtim.tv_nsec};
}

static int changed(const struct sender *s, const struct visit *v, struct err *e)
{
	return err_usage(e, "input %s: %s changed while it was read", s->shown, v->inner);
}

/* A file that is open. */
struct outgoing {
	int fd;
	struct stat st;
	const struct visit *v;
	const char *name; /* what it is to be called */
};

static int cannot(const struct sender *s, const char *what, const struct outgoing *o, struct err *e)
{
	return err_sys(e, "input %s: %s %s", s->shown, what, o->v->inner);
}

/* Announced when it is read whole, so that a file that shrinks is what it was. */
static int send_small(struct sender *s, const struct outgoing *o, struct err *e)
{
	struct stream_record r = describe(STREAM_INLINE, &o->st);
	const size_t head = sizeof(r) + strlen(o->name);
	char *at = room(s, head + r.size, e);
	size_t got = 0;
	if (!at)
		return -1;
	while (got < r.size) {
		const ssize_t n = pread(o->fd, at + head + got, r.size - got, (off_t)got);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return cannot(s, "read", o, e);
		if (n == 0)
			break;
		got += (size_t)n;
	}
	s->len -= r.size - got;
	r.size = got;
	r.name_len = (uint16_t)strlen(o->name);
	memcpy(at, &r, sizeof(r));
	memcpy(at + sizeof(r), o->name, r.name_len);
	return 0;
}

/* Announced, then from the page cache into the pipe without a copy. */
static int send_segment(struct sender *s, const struct outgoing *o, off_t at, off_t end,
			struct err *e)
{
	const struct stream_record r = {.type = STREAM_DATA,
					.offset = (uint64_t)at,
					.size = (uint64_t)(end - at)};
	if (put(s, r, "", "", e) < 0 || flush(s, e) < 0)
		return -1;
	while (at < end) {
		const size_t len = end - at < STREAM_CHUNK ? (size_t)(end - at) : STREAM_CHUNK;
		const ssize_t n = sendfile(s->to, o->fd, &at, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return cannot(s, "pass on", o, e);
		if (n == 0)
			return changed(s, o->v, e);
	}
	return 0;
}

static int send_large(struct sender *s, const struct outgoing *o, struct err *e)
{
	const off_t size = o->st.st_size;
	const bool sparse = (uint64_t)o->st.st_blocks * 512 < (uint64_t)size;
	if (put(s, describe(STREAM_FILE, &o->st), o->name, "", e) < 0)
		return -1;
	for (off_t at = 0, end; at < size; at = end) {
		if (sparse)
			at = lseek(o->fd, at, SEEK_DATA);
		if ((at < 0 && errno == ENXIO) || at >= size)
			break;
		if (at < 0)
			return cannot(s, "seek in", o, e);
		end = sparse ? lseek(o->fd, at, SEEK_HOLE) : size;
		if (end < 0)
			return cannot(s, "seek in", o, e);
		if (end > size)
			end = size;
		if (send_segment(s, o, at, end, e) < 0)
			return -1;
	}
	return put(s, (struct stream_record){.type = STREAM_FILE_END}, "", "", e);
}

static int open_file(const struct sender *s, const struct visit *v, struct stat *st, struct err *e)
{
	char link[40];
	const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	/* The source itself was opened by O_PATH: through /proc it is opened again, whatever its name is now. */
	snprintf(link, sizeof(link), "/proc/self/fd/%d", v->dir);
	autoclose int fd = *v->name ? fd_openat2(v->dir, v->name, (uint64_t)flags | O_NOFOLLOW, 0,
						 RESOLVE_NO_XDEV)
				    : open(link, flags);
	/* A file that something is mounted on. */
	if (fd < 0 && errno == EXDEV) {
		fd = openat(v->dir, v->name, flags | O_NOFOLLOW);
		if (fd >= 0 && vet_mount(s->vet, fd, &(struct vet_words){s->shown, v->inner}, e) < 0)
			return -1;
	}
	if (fd < 0 || fstat(fd, st) < 0) {
		err_sys(e, "input %s: open %s", s->shown, v->inner);
		e->kind = ERR_USAGE;
		return -1;
	}
	return S_ISREG(st->st_mode) ? fd_take(&fd) : changed(s, v, e);
}

static const char *last_name(const struct visit *v)
{
	const char *slash = strrchr(v->path, '/');
	return *v->name ? v->name : slash ? slash + 1 : v->path;
}

static int send_file(struct sender *s, const struct visit *v, struct err *e)
{
	struct outgoing o = {.v = v, .name = last_name(v)};
	bool out_of_memory = false;
	autoclose int fd = open_file(s, v, &o.st, e);
	if (fd < 0)
		return -1;
	o.fd = fd;
	const struct vet_words said = {s->shown, v->inner};
	if (o.st.st_nlink > 1 && vet_file(s->vet, &o.st, &said, e) < 0)
		return -1;
	const char *first = o.st.st_nlink > 1
				    ? links_first(&s->links, &o.st, v->path, &out_of_memory)
				    : NULL;
	if (out_of_memory)
		return err_host(e, "inputs: out of memory");
	if (first)
		return put(s, describe(STREAM_HARD_LINK, &o.st), o.name, first, e);
	return o.st.st_size > STREAM_SMALL ? send_large(s, &o, e) : send_small(s, &o, e);
}

static int send_link(struct sender *s, const struct visit *v, struct err *e)
{
	char target[PATH_MAX];
	const ssize_t n = readlinkat(v->dir, v->name, target, sizeof(target) - 1);
	if (n < 0)
		return changed(s, v, e);
	target[n] = '\0';
	return put(s, describe(STREAM_LINK, v->st), last_name(v), target, e);
}

static int send_visit(void *arg, const struct visit *v, struct err *e)
{
	struct sender *s = arg;
	const bool hidden = s->contents_only && v->depth == 0;
	switch (v->kind) {
	case VISIT_FOLDER:
		return hidden ? 0 : put(s, describe(STREAM_FOLDER, v->st), last_name(v), "", e);
	case VISIT_LEAVE:
		return hidden ? 0 : put(s, describe(STREAM_LEAVE, v->st), "", "", e);
	case VISIT_LINK:
		return send_link(s, v, e);
	case VISIT_FILE:
		break;
	}
	return send_file(s, v, e);
}

static int send_source(struct sender *s, const struct sources *all, const struct input *in, int fd,
		       struct err *e)
{
	const struct walk w = {.vet = &all->vet,
			       .shown = in->source,
			       .top = input_name(in),
			       .lazy = true,
			       .visit = send_visit,
			       .arg = s};
	s->shown = in->source;
	s->vet = &all->vet;
	s->contents_only = strcmp(in->target, ".") == 0;
	const struct stream_record r = {.type = STREAM_INPUT,
					.mode = in->read_only ? STREAM_READ_ONLY : 0};
	if (put(s, r, in->target, "", e) < 0)
		return -1;
	const int rc = walk_source(&w, fd, e);
	links_free(&s->links);
	return rc;
}

/* What a stream of an archive's contents says goes on in place of a walk. */
static int send_archive(struct sender *s, struct input_budget *left, const struct input *in,
			int from, struct err *e)
{
	struct relay w = {.from = from, .to = s->to, .input = in, .left = left, .out = s->buf};
	if (flush(s, e) < 0)
		return -1;
	w.in = malloc(STREAM_BUFFER);
	const int rc = w.in ? relay_archive(&w, e) : err_host(e, "inputs: out of memory");
	free(w.in);
	return rc;
}

int sources_send(const struct sources *all, struct sending *w, struct err *e)
{
	struct sender s = {.to = w->to, .buf = malloc(STREAM_BUFFER)};
	struct input_budget left = all->left;
	const int *unpacker = w->unpackers;
	int rc = s.buf ? 0 : err_host(e, "inputs: out of memory");
	for (size_t i = 0; rc == 0 && i < all->len; i++) {
		const struct input *in = &w->list->inputs[i];
		w->number = i + 1;
		rc = in->unpack ? send_archive(&s, &left, in, *unpacker++, e)
				: send_source(&s, all, in, all->fds[i], e);
	}
	if (rc == 0)
		rc = put(&s, (struct stream_record){.type = STREAM_END}, "", "", e);
	if (rc == 0)
		rc = flush(&s, e);
	free(s.buf);
	return rc;
}
