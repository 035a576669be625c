#include "transfer/collecting.h"

#include "base/dir.h"
#include "base/fd.h"
#include "transfer/glob.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 20 };

static void flush(struct collector *c)
{
	c->broken |= fd_write_all(c->to, c->out, c->out_len) < 0;
	c->out_len = 0;
}

static void put_bytes(struct collector *c, const void *bytes, size_t len)
{
	if (sizeof(c->out) - c->out_len < len)
		flush(c);
	memcpy(c->out + c->out_len, bytes, len);
	c->out_len += len;
}

void collect_put(struct collector *c, struct collect_record r, const char *path, const char *text)
{
	r.rule = c->number;
	r.path_len = path ? (uint32_t)strlen(path) : 0;
	r.text_len = text ? (uint32_t)strlen(text) : 0;
	if (c->broken)
		return;
	put_bytes(c, &r, sizeof(r));
	if (path)
		put_bytes(c, path, r.path_len);
	if (text)
		put_bytes(c, text, r.text_len);
}

static void put(struct collector *c, struct collect_record r, bool with_path)
{
	collect_put(c, r, with_path ? c->path : NULL, NULL);
}

void collect_reject(struct collector *c, enum collect_reason reason, uint64_t size)
{
	c->hit = true;
	put(c, (struct collect_record){.type = COLLECT_REJECT, .reason = reason, .size = size}, true);
}

/* ---- one file ---- */

static bool send_small(struct collector *c, int fd, off_t at, size_t left)
{
	if (sizeof(c->out) - c->out_len < left)
		flush(c);
	while (left > 0) {
		const ssize_t n = pread(fd, c->out + c->out_len, left, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		c->out_len += (size_t)n;
		left -= (size_t)n;
		at += n;
	}
	return true;
}

static bool send_bytes(struct collector *c, int fd, off_t at, uint64_t left)
{
	if (left <= COLLECT_SMALL)
		return send_small(c, fd, at, (size_t)left);
	flush(c);
	while (left > 0) {
		const ssize_t n = sendfile(c->to, fd, &at, left < CHUNK ? left : CHUNK);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		left -= (uint64_t)n;
	}
	return true;
}

/* Bytes that were announced and do not come leave no way back into the records. */
static void send_data(struct collector *c, int fd, uint64_t size)
{
	for (off_t at = 0, end; (uint64_t)at < size && !c->broken; at = end) {
		at = lseek(fd, at, SEEK_DATA);
		if (at < 0 || (uint64_t)at >= size)
			break;
		end = lseek(fd, at, SEEK_HOLE);
		if (end < 0 || (uint64_t)end > size)
			end = (off_t)size;
		put(c,
		    (struct collect_record){.type = COLLECT_DATA,
					    .offset = (uint64_t)at,
					    .size = (uint64_t)(end - at)},
		    false);
		c->broken |= !send_bytes(c, fd, at, (uint64_t)(end - at));
	}
}

void collect_bytes(struct collector *c, int fd, uint64_t size)
{
	send_data(c, fd, size);
	put(c, (struct collect_record){.type = COLLECT_END}, false);
}

static bool sent_before(const struct collector *c)
{
	for (size_t i = 0; i < c->sent_len; i++)
		if (strcmp(c->sent[i], c->path) == 0)
			return true;
	return false;
}

static void take_file(struct collector *c, int dir, const char *name, const struct stat *st)
{
	const uint64_t size = (uint64_t)st->st_size;
	if (size > c->rule->max_bytes)
		return collect_reject(c, REASON_LARGE, size);
	if (c->sent_len == COLLECT_FILES_MAX)
		return collect_reject(c, REASON_COUNT_FILES, size);
	if (size > COLLECT_BYTES_MAX - c->total)
		return collect_reject(c, REASON_TOTAL, size);
	autoclose int fd = fd_openat2(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0,
				      BENEATH);
	char *copy = fd >= 0 ? strdup(c->path) : NULL;
	if (!copy)
		return collect_reject(c, REASON_UNREADABLE, size);
	c->sent[c->sent_len++] = copy;
	c->total += size;
	c->hit = true;
	put(c, (struct collect_record){.type = COLLECT_FILE, .size = size}, true);
	collect_bytes(c, fd, size);
}

/* What the last component names, judged before it is opened for reading. */
static void take(struct collector *c, int dir, const char *name)
{
	struct stat st;
	autoclose int fd = fd_openat2(dir, name, O_PATH | O_NOFOLLOW, 0, BENEATH);
	if (fd < 0 || fstat(fd, &st) < 0) {
		if (errno != ENOENT && errno != ENOTDIR)
			collect_reject(c,
				       errno == EXDEV || errno == ELOOP ? REASON_LINK_ABOVE
									: REASON_UNREADABLE,
				       0);
		return;
	}
	if (c->rule->type == ARTIFACT_TREE && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))) {
		collect_tree(c, dir, name, &st);
	} else if (S_ISREG(st.st_mode) && sent_before(c)) {
		c->hit = true;
		put(c, (struct collect_record){.type = COLLECT_AGAIN}, true);
	} else if (S_ISREG(st.st_mode)) {
		take_file(c, dir, name, &st);
	} else {
		collect_reject(c,
			       S_ISLNK(st.st_mode)    ? REASON_LINK
			       : S_ISDIR(st.st_mode)  ? REASON_FOLDER
			       : S_ISFIFO(st.st_mode) ? REASON_FIFO
			       : S_ISSOCK(st.st_mode) ? REASON_SOCKET
						      : REASON_DEVICE,
			       0);
	}
}

/* ---- matching ---- */

static void descend(struct collector *c, int dir, const char *pattern, size_t path_len);

/* name in dir, the path so far being path_len bytes long. rest: the pattern behind its component, "" at the end. */
static void step(struct collector *c, int dir, const char *name, const char *rest, size_t path_len)
{
	const size_t len = strlen(name);
	if (path_len + 1 + len > COLLECT_PATH_MAX) {
		c->path[path_len] = '\0';
		return collect_reject(c, REASON_NO_NAME, 0);
	}
	if (path_len > 0)
		c->path[path_len++] = '/';
	memcpy(c->path + path_len, name, len + 1);
	path_len += len;
	if (!*rest)
		return take(c, dir, name);
	autoclose int next = fd_openat2(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0, BENEATH);
	if (next >= 0)
		return descend(c, next, rest + 1, path_len);
	const int sys = errno;
	struct stat st;
	const bool link = sys == ELOOP ||
			  (sys == ENOTDIR && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			   S_ISLNK(st.st_mode));
	if (link)
		collect_reject(c, REASON_LINK_ABOVE, 0);
	else if (sys != ENOTDIR && sys != ENOENT)
		collect_reject(c, REASON_UNREADABLE, 0);
}

static bool spend_name(struct collector *c)
{
	if (c->names < COLLECT_NAMES_MAX) {
		c->names++;
		return true;
	}
	if (c->names++ == COLLECT_NAMES_MAX)
		put(c, (struct collect_record){.type = COLLECT_CUT}, false);
	return false;
}

/* As deep as the pattern has components, which spec/ bounds. */
static void descend(struct collector *c, int dir, const char *pattern, size_t path_len)
{
	char name[256];
	const size_t len = strcspn(pattern, "/");
	const char *rest = pattern + len;
	if (!glob_is_pattern(pattern, len)) {
		memcpy(name, pattern, len);
		name[len] = '\0';
		if (spend_name(c))
			step(c, dir, name, rest, path_len);
		return;
	}
	autodir *list = dir_open(fd_openat2(dir, ".", O_RDONLY | O_DIRECTORY, 0, BENEATH));
	const struct dirent *d;
	while (list && !c->broken && (d = dir_next(list))) {
		if (!spend_name(c))
			return;
		if (glob_match(pattern, len, d->d_name))
			step(c, dir, d->d_name, rest, path_len);
	}
	if (c->broken || (list && errno == 0))
		return;
	/* Nobody knows what else of it is meant. */
	c->path[path_len] = '\0';
	if (path_len == 0)
		memcpy(c->path, c->rule->path, strlen(c->rule->path) + 1);
	collect_reject(c, REASON_UNREADABLE, 0);
}

int collect_run(int root, const struct artifact_list *list, int to)
{
	struct collector *c = calloc(1, sizeof(*c));
	autoclose int scratch = fd_openat2(root, "scratch", O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0,
					   BENEATH);
	if (!c || scratch < 0) {
		free(c);
		return -1;
	}
	c->to = to;
	for (size_t i = 0; i < list->len && !c->broken; i++) {
		c->rule = &list->rules[i];
		c->number = (uint32_t)i;
		c->hit = false;
		descend(c, scratch, c->rule->path, 0);
		if (c->hit)
			continue;
		memcpy(c->path, c->rule->path, strlen(c->rule->path) + 1);
		collect_reject(c, c->names > COLLECT_NAMES_MAX ? REASON_NAMES : REASON_MISSING, 0);
	}
	put(c, (struct collect_record){.type = COLLECT_DONE}, false);
	flush(c);
	const bool broken = c->broken;
	while (c->sent_len > 0)
		free(c->sent[--c->sent_len]);
	free(c);
	return broken ? -1 : 0;
}
