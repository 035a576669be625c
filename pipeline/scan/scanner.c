#include "pipeline/scan/scanner.h"

#include "base/fd.h"
#include "pipeline/scan/kind.h"
#include "pipeline/scan/reader.h"
#include "pipeline/scan/walk.h"
#include "pipeline/scan/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	LOOK_MS = 200,
	/* A reader that sleeps takes no processor time. */
	WALL_FACTOR = 20,
};

/* ---- the reader ---- */

/* Its own memory, copied by the clone. */
static struct reader make_reader(const struct scanner *s, int in, int out)
{
	return (struct reader){.rules = s->rules, .in = in, .out = out};
}

static int start_reader(struct scanner *s, struct err *e)
{
	int orders[2], records[2];
	if (pipe2(orders, O_CLOEXEC) < 0)
		return err_sys(e, "pipe");
	autoclose int orders_from = orders[0];
	autoclose int orders_to = orders[1];
	if (pipe2(records, O_CLOEXEC) < 0)
		return err_sys(e, "pipe");
	autoclose int records_from = records[0];
	autoclose int records_to = records[1];
	struct reader r = make_reader(s, orders_from, records_to);
	const int fds[] = {orders_from, records_to};
	s->jail = (struct jail){.kind = JAIL_READER,
				.root = -1,
				.fds = fds,
				.fds_len = sizeof(fds) / sizeof(*fds),
				.run = reader_run,
				.arg = &r};
	if (jail_start(&s->child, &s->jail, e) < 0)
		return -1;
	s->jail.fds = NULL;
	s->jail.fds_len = 0;
	s->jail.arg = NULL;
	if (fcntl(orders_to, F_SETFL, O_NONBLOCK) < 0)
		return err_sys(e, "fcntl");
	/* Fewer switches between the two; what is refused costs time alone. */
	fcntl(orders_to, F_SETPIPE_SZ, 1 << 20);
	s->to = fd_take(&orders_to);
	s->from = fd_take(&records_from);
	return 0;
}

static void drop_reader(struct scanner *s)
{
	fd_close(&s->to);
	fd_close(&s->from);
	jail_kill(&s->child);
}

void scanner_close(struct scanner *s)
{
	drop_reader(s);
}

/* ---- what it may take ---- */

struct watch {
	clockid_t clock;
	int64_t cpu_end, wall_end;
};

static int64_t read_clock(clockid_t clock)
{
	struct timespec t;
	return clock_gettime(clock, &t) < 0 ? -1 : (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct watch begin_watch(const struct scanner *s)
{
	struct watch w = {.clock = CLOCK_MONOTONIC};
	if (clock_getcpuclockid(s->child.pid, &w.clock) != 0)
		w.clock = CLOCK_MONOTONIC;
	w.cpu_end = read_clock(w.clock) + (int64_t)s->file_cpu_ns;
	w.wall_end = read_clock(CLOCK_MONOTONIC) + WALL_FACTOR * (int64_t)s->file_cpu_ns;
	return w;
}

static bool too_long(const struct watch *w)
{
	return read_clock(w->clock) > w->cpu_end || read_clock(CLOCK_MONOTONIC) > w->wall_end;
}

enum outcome { WENT_WELL, DIED, TOOK_TOO_LONG, LIED };

/* Until fd is ready for events; DIED is for the caller to see by its next call. */
static enum outcome await(int fd, short events, const struct watch *w)
{
	for (;;) {
		struct pollfd p = {.fd = fd, .events = events};
		const int ready = poll(&p, 1, LOOK_MS);
		if (ready > 0)
			return WENT_WELL;
		if (ready < 0 && errno != EINTR)
			return DIED;
		if (too_long(w))
			return TOOK_TOO_LONG;
	}
}

static enum outcome give(const struct scanner *s, const void *buf, size_t len, const struct watch *w)
{
	for (size_t used = 0; used < len;) {
		const ssize_t n = write(s->to, (const char *)buf + used, len - used);
		if (n > 0) {
			used += (size_t)n;
			continue;
		}
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return DIED;
		const enum outcome ready = await(s->to, POLLOUT, w);
		if (ready != WENT_WELL)
			return ready;
	}
	return WENT_WELL;
}

static enum outcome take(const struct scanner *s, void *buf, size_t len, const struct watch *w)
{
	for (size_t used = 0; used < len;) {
		const enum outcome ready = await(s->from, POLLIN, w);
		if (ready != WENT_WELL)
			return ready;
		const ssize_t n = read(s->from, (char *)buf + used, len - used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return DIED;
		used += (size_t)n;
	}
	return WENT_WELL;
}

/* ---- findings ---- */

static void tell(struct scanner *s, enum builtin rule, const char *path, const char *detail)
{
	const struct rule *row = rules_builtin(rule);
	const struct scan_finding f = {.id = row->id,
				       .path = path,
				       .message = row->message,
				       .sandbox = row->sandbox,
				       .detail = detail,
				       .severity = row->severity};
	scan_add(s->findings, &f);
}

static void add_own(struct scanner *s, const char *path, const struct record *rec)
{
	const struct rule *row = &s->rules->at[rec->rule];
	char whole[WALK_PATH_MAX + WIRE_INNER];
	snprintf(whole, sizeof(whole), "%s%s", path, rec->inner);
	const struct scan_finding f = {.id = row->id,
				       .path = whole,
				       .message = row->message,
				       .sandbox = row->sandbox,
				       .detail = rec->detail,
				       .host = rec->host,
				       .source = rec->source,
				       .severity = row->severity,
				       .line = rec->line,
				       .column = rec->column,
				       .end_line = rec->end_line,
				       .end_column = rec->end_column,
				       .caret = rec->caret,
				       .caret_len = rec->caret_len};
	scan_add(s->findings, &f);
}

static void add_foreign(struct scanner *s, const struct record *rec)
{
	const struct scan_finding f = {.id = rec->id,
				       .path = rec->inner,
				       .message = rec->detail,
				       .source = rec->source,
				       .tool = rec->host[0] ? rec->host : "another analyser",
				       .severity = (enum scan_severity)rec->severity,
				       .line = rec->line,
				       .column = rec->column,
				       .end_line = rec->end_line,
				       .end_column = rec->end_column};
	scan_add(s->findings, &f);
}

/* What one record says; WENT_WELL: there is more to come, unless it was DONE. */
static enum outcome take_record(struct scanner *s, const char *path, const struct order *o,
				const struct record *rec)
{
	if (!wire_check(rec, s->rules->len, LANGUAGES))
		return LIED;
	if (rec->kind == RECORD_LANGUAGE)
		s->seen.bytes[rec->rule] += rec->bytes;
	else if (rec->kind == RECORD_FOREIGN && o->kind == ORDER_SARIF)
		add_foreign(s, rec);
	else if (rec->kind == RECORD_FINDING)
		add_own(s, path, rec);
	else if (rec->kind != RECORD_DONE)
		return LIED;
	return WENT_WELL;
}

/* Records until DONE. One file's are few, so that none of them pushes out another's; of a log there
 * may be as many as findings are taken at all. A reader that lies has said nothing. */
static enum outcome take_records(struct scanner *s, const char *path, const struct order *o,
				 const struct watch *w)
{
	const size_t before = s->findings->len;
	const size_t most = before + (o->kind == ORDER_SARIF ? SCAN_FINDINGS_MAX : WIRE_RECORDS_MAX);
	struct record rec = {.kind = RECORD_READY};
	enum outcome got = WENT_WELL;
	for (int i = 0; got == WENT_WELL && rec.kind != RECORD_DONE; i++) {
		got = take(s, &rec, sizeof(rec), w);
		if (got == WENT_WELL)
			got = take_record(s, path, o, &rec);
		if (i > SCAN_FINDINGS_MAX + 8 || s->findings->len > most)
			got = LIED;
	}
	if (got == LIED)
		s->findings->len = before;
	return got;
}

/* ---- one file ---- */

/* As many bytes as were promised; what a file that shrinks no longer has is zeros. */
static enum outcome give_file(const struct scanner *s, int fd, uint32_t size, const struct watch *w)
{
	char buf[64 << 10];
	for (uint32_t used = 0; used < size;) {
		const size_t want = size - used < sizeof(buf) ? size - used : sizeof(buf);
		ssize_t n = pread(fd, buf, want, used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			memset(buf, 0, want);
			n = (ssize_t)want;
		}
		const enum outcome given = give(s, buf, (size_t)n, w);
		if (given != WENT_WELL)
			return given;
		used += (uint32_t)n;
	}
	return WENT_WELL;
}

static void bury(struct scanner *s, enum outcome how, const char *path)
{
	struct err e = ERR_INIT;
	if (how == DIED) {
		fd_close(&s->to);
		fd_close(&s->from);
		jail_finish(&s->child, &s->jail, &e);
	}
	drop_reader(s);
	if (how == TOOK_TOO_LONG)
		tell(s, RULE_TIMEOUT, path, "");
	else
		tell(s, RULE_CRASHED, path, how == LIED ? "its records are wrong" : e.msg);
	if (++s->deaths >= SCAN_DEATHS_MAX) {
		s->given_up = true;
		tell(s, RULE_TOO_MANY, "", "files that end the reader; the rest was not looked at");
	}
}

/* One that does not get as far as to say so has no jail around it: that is no file's fault. */
static int have_reader(struct scanner *s, struct err *e)
{
	struct record ready;
	if (s->to >= 0)
		return 0;
	if (start_reader(s, e) < 0)
		return -1;
	const struct watch w = begin_watch(s);
	if (take(s, &ready, sizeof(ready), &w) == WENT_WELL && ready.kind == RECORD_READY)
		return 0;
	fd_close(&s->to);
	fd_close(&s->from);
	if (jail_finish(&s->child, &s->jail, e) == 0)
		err_bug(e, "the reader ended before it began");
	return -1;
}

static int order(struct scanner *s, const struct order *o, int fd, const char *path, struct err *e)
{
	if (have_reader(s, e) < 0)
		return -1;
	const struct watch w = begin_watch(s);
	enum outcome got = give(s, o, sizeof(*o), &w);
	if (got == WENT_WELL)
		got = give_file(s, fd, o->size, &w);
	if (got == WENT_WELL)
		got = take_records(s, path, o, &w);
	if (got != WENT_WELL)
		bury(s, got, path);
	return 0;
}

static int compile(struct scanner *s, enum language l, struct err *e)
{
	/* Before the reader is made, so that each has it; one that is there compiles for itself. */
	return l == LANGUAGE_NONE || s->to >= 0 ? 0 : rules_compile(s->rules, l, e);
}

static int visit_file(void *arg, const struct walk_file *f, struct err *e)
{
	struct scanner *s = arg;
	char head[KIND_HEAD];
	const ssize_t n = pread(f->fd, head, sizeof(head), 0);
	s->files++;
	s->bytes += f->size;
	if (s->given_up)
		return 0;
	if (n < 0) {
		tell(s, RULE_UNREADABLE, f->path, strerrordesc_np(errno));
		return 0;
	}
	const struct kind k = kind_of(f->name, head, (size_t)n);
	uint64_t size = f->size;
	if (k.name == KIND_OTHER)
		return 0;
	if (size > k.most && k.name != KIND_TEXT) {
		tell(s, RULE_TOO_LARGE, f->path, "");
		return 0;
	}
	size = size > k.most ? k.most : size;
	if (k.name == KIND_SOURCE)
		seen_file(&s->seen, k.language, f->path);
	struct order o = {.kind = ORDER_FILE, .size = (uint32_t)size};
	wire_text(o.name, sizeof(o.name), f->name, strlen(f->name));
	wire_text(o.folder, sizeof(o.folder), f->folder, strlen(f->folder));
	return compile(s, k.language, e) < 0 ? -1 : order(s, &o, f->fd, f->path, e);
}

static void visit_link(void *arg, const char *path, const char *target)
{
	tell(arg, RULE_LINK, path, target);
}

static void visit_passed(void *arg, const char *path, int error)
{
	if (error == 0)
		tell(arg, RULE_TOO_MANY, path, "folders in folders, or entries");
	else
		tell(arg, RULE_UNREADABLE, path, strerrordesc_np(error));
}

static int read_one(struct scanner *s, int fd, const char *path, struct err *e)
{
	char folder[PATH_MAX];
	struct stat st;
	const char *name = fd_split(path, folder);
	if (fstat(fd, &st) < 0)
		return err_sys(e, "stat %s", path);
	if (!S_ISREG(st.st_mode))
		return err_usage(e, "%s is neither a folder nor a file", path);
	const struct walk_file f = {.path = name,
				    .name = name,
				    .folder = "",
				    .fd = fd,
				    .size = (uint64_t)st.st_size};
	return visit_file(s, &f, e);
}

int scanner_read(struct scanner *s, const char *path, struct err *e)
{
	const struct walk_visitor v = {.file = visit_file,
				       .link = visit_link,
				       .passed = visit_passed,
				       .arg = s};
	/* The caller names it, so a link to it is the caller's. */
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) < 0) {
		const int error = errno;
		return err_usage(e, "open %s: %s", path, strerrordesc_np(error));
	}
	return S_ISDIR(st.st_mode) ? walk_tree(fd, &v, e) : read_one(s, fd, path, e);
}

void scanner_finish(struct scanner *s)
{
	struct scan_findings *all = s->findings;
	scan_sort(all);
	if (!all->cut)
		return;
	/* Who reads what we write sees that there is more, and a gate stops it. */
	all->len -= all->len == SCAN_FINDINGS_MAX;
	all->cut = false;
	tell(s, RULE_TOO_MANY, "", "findings");
	all->cut = true;
}

int scanner_merge(struct scanner *s, const char *path, struct err *e)
{
	struct stat st;
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) < 0) {
		const int error = errno;
		return err_usage(e, "open %s: %s", path, strerrordesc_np(error));
	}
	if (!S_ISREG(st.st_mode))
		return err_usage(e, "%s is no file", path);
	if (st.st_size > SARIF_BYTES_MAX) {
		tell(s, RULE_TOO_LARGE, path, "a log");
		return 0;
	}
	const struct order o = {.kind = ORDER_SARIF, .size = (uint32_t)st.st_size};
	return order(s, &o, fd, path, e);
}
