#include "runtime/collect.h"

#include "base/fd.h"
#include "base/text.h"
#include "runtime/confine.h"
#include "runtime/intake.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	PATIENCE_MS = 60000,
	BYTES_IN_MS = 16 << 10, /* 16 MiB a second */
	DATA_BYTES = 64 << 20,
	FILES = 384, /* two a component of a pattern, one a folder of the tree that it names, and some */
	SCHEMA_BYTES_MAX = 1 << 20,
	PIPE_BYTES = 1 << 20, /* fewer turns for both ends; the kernel may give less */
	EVENTS_MAX = 2000,
};

const char *const collect_reasons[REASON_COUNT] = {
	[REASON_MISSING] = "nothing of that name is there",
	[REASON_LINK] = "it is a symbolic link, which is not followed",
	[REASON_FOLDER] = "it is a folder",
	[REASON_FIFO] = "it is a FIFO",
	[REASON_SOCKET] = "it is a socket",
	[REASON_DEVICE] = "it is a device",
	[REASON_LARGE] = "it is larger than its max",
	[REASON_TOTAL] = "all artifacts together are larger than 16 GiB",
	[REASON_COUNT_FILES] = "there are more than 1024 artifacts",
	[REASON_LINK_ABOVE] = "a part of its path is a symbolic link, which is not followed",
	[REASON_UNREADABLE] = "it could not be opened",
	[REASON_NO_NAME] = "its path is longer than 4095 bytes",
	[REASON_FILES] = "it has more entries than its files",
	[REASON_DEPTH] = "its folders are nested deeper than 128",
	[REASON_LEADS_OUT] = "it is a link that leads out of the tree",
	[REASON_NAMES] = "it was not looked for, as more than 200000 names were before",
};

/* ---- the plan ---- */

static int read_schema(struct tree *t, const char *path, struct arena *a, struct err *e)
{
	struct stat st;
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0) {
		err_sys(e, "schema %s", path);
		e->kind = ERR_USAGE;
		return -1;
	}
	if (!S_ISREG(st.st_mode) || st.st_size > SCHEMA_BYTES_MAX)
		return err_usage(e, "schema %s: no file of 1 MiB at most", path);
	char *text = arena_alloc(a, (size_t)st.st_size + 1);
	const ssize_t n = pread(fd, text, (size_t)st.st_size, 0);
	if (n != st.st_size)
		return err_sys(e, "read schema %s", path);
	if (tree_read(t, text, (size_t)n, e) < 0 || schema_check(t, e) < 0)
		return err_wrap(e, "schema %s", path);
	return 0;
}

int artifacts_plan(struct artifacts_plan *p, const struct spec *s, bool dry, struct err *e)
{
	const struct artifact_list *list = &s->artifacts;
	for (size_t i = 0; i < list->len; i++) {
		if (!list->rules[i].schema)
			continue;
		if (!p->schemas)
			p->schemas = arena_alloc(s->arena, list->len * sizeof(*p->schemas));
		if (read_schema(&p->schemas[i], list->rules[i].schema, s->arena, e) < 0)
			return -1;
	}
	const int dir = store_open(s->artifacts_dir, dry, e);
	if (dir == -1)
		return -1;
	p->dir = dir >= 0 ? dir : -1;
	if (dir >= 0 && !dry)
		part_sweep(dir);
	return 0;
}

void artifacts_plan_close(struct artifacts_plan *p, const struct spec *s)
{
	for (size_t i = 0; p->schemas && i < s->artifacts.len; i++)
		tree_close(&p->schemas[i]);
	p->schemas = NULL;
	fd_close(&p->dir);
}

/* ---- the collector ---- */

static _Noreturn void be_collector(const struct run *run, int to, pid_t parent)
{
	const struct confine_end jail = {.filter = &filter_collector,
					 .reads = true,
					 .data_bytes = DATA_BYTES,
					 .files = FILES};
	const bool slot = run->plan.launch.ids.form == IDS_FORM_SLOT;
	struct err e = ERR_INIT;
	int keep[] = {run->watch.scratch, run->user_namespace, to};
	if (fd_close_others(keep, 3) < 0)
		err_sys(&e, "close what the collector does not need");
	if (e.kind != ERR_NONE || confine_join(run->user_namespace, slot, &e) < 0) {
		dprintf(to, "%s", e.msg);
		_exit(2);
	}
	close(run->user_namespace);
	if (confine_end(&jail, parent, &e) < 0) {
		dprintf(to, "%s", e.msg);
		_exit(2);
	}
	_exit(collect_run(run->watch.scratch, &run->spec->artifacts, to) < 0);
}

/* ---- what it says ---- */

/* Some of it. 0: it ended, it took too long, we were told to stop. */
static size_t hear(struct intake *in, void *to, size_t len)
{
	while (!in->run->told_to_stop) { /* a validator may have heard it */
		struct pollfd p[] = {{.fd = in->from, .events = POLLIN},
				     {.fd = in->run->signals, .events = POLLIN}};
		const int64_t left_ms = (in->until_ns - now_ns()) / MS_NS;
		const ssize_t n = read(in->from, to, len);
		if (n > 0)
			return (size_t)n;
		if (n == 0 || (errno != EAGAIN && errno != EINTR) || left_ms <= 0)
			return 0;
		if (poll(p, 2, left_ms < INT_MAX ? (int)left_ms : INT_MAX) < 0 && errno != EINTR)
			return 0;
		if (p[1].revents)
			told_to_stop(in->run);
	}
	return 0;
}

bool intake_take(struct intake *in, void *to, size_t len)
{
	for (char *at = to; len > 0;) {
		size_t n = in->end - in->begin;
		if (n == 0 && len < INTAKE_AHEAD) {
			in->begin = 0;
			in->end = hear(in, in->ahead, INTAKE_AHEAD);
			n = in->end;
		}
		if (n > 0) {
			n = n < len ? n : len;
			memcpy(at, in->ahead + in->begin, n);
			in->begin += n;
		} else if (len >= INTAKE_AHEAD) {
			n = hear(in, at, len);
		}
		if (n == 0)
			return false;
		at += n;
		len -= n;
	}
	return true;
}

bool intake_reserved(const struct intake *in, const char *name)
{
	const struct spec *s = in->run->spec;
	/* Rotation gives the log's name away while the run goes on, and back to the next record. */
	const char *const ours[] = {s->result,	    s->events, s->stdout_file,
				    s->stderr_file, s->audit,  s->rules.audit};
	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++) {
		const char *slash = ours[i] ? strrchr(ours[i], '/') : NULL;
		if (ours[i] && strcmp(slash ? slash + 1 : ours[i], name) == 0)
			return true;
	}
	return false;
}

void intake_note(struct intake *in, const struct artifact_row *row, uint32_t rule)
{
	struct result *r = in->run->r;
	const bool bad = row->status == ARTIFACT_REJECTED;
	in->states[rule] |= bad ? RULE_BAD : RULE_KEPT;
	const bool full = r->artifacts_len == ARTIFACT_ROWS_MAX ||
			  (bad && r->artifacts_rejected == ARTIFACT_REJECTED_ROWS);
	r->artifacts_more += full;
	if (bad && !full)
		run_audit(in->run, AUDIT_ARTIFACT, row->path, row->reason);
	if (full || !row->path) {
		free((char *)(uintptr_t)row->path);
		return;
	}
	in->rules[r->artifacts_len] = rule;
	struct artifact_row *kept = &r->artifacts[r->artifacts_len++];
	*kept = *row;
	r->artifacts_rejected += bad;
	if (in->events++ < EVENTS_MAX)
		run_event_artifact(in->run, kept);
}

void intake_note_stored(struct intake *in, size_t left)
{
	for (; in->stored_len > left; in->stored_len--) {
		struct stored *s = &in->stored[in->stored_first++ % HASHING_FILES];
		char digest[65];
		hashing_take(&in->hashing, digest);
		if (s->row.status != ARTIFACT_REJECTED)
			memcpy(s->row.sha256, digest, sizeof(digest));
		intake_note(in, &s->row, s->rule);
	}
}

const struct artifact_rule *intake_rule(const struct intake *in)
{
	return &in->run->spec->artifacts.rules[in->rule];
}

struct artifact_row intake_row(const struct intake *in, uint64_t size)
{
	const struct artifact_rule *rule = intake_rule(in);
	return (struct artifact_row){.path = strdup(in->path),
				     .status = ARTIFACT_REJECTED,
				     .type = rule->type,
				     .required = rule->required,
				     .size = (int64_t)size};
}

static bool on_reject(struct intake *in, const struct collect_record *c)
{
	if (c->reason >= REASON_COUNT || c->size > INT64_MAX)
		return false;
	struct artifact_row row = intake_row(in, c->size);
	if (c->reason != REASON_LARGE && c->size == 0)
		row.size = NUM_UNKNOWN;
	text_fit(row.reason, sizeof(row.reason), collect_reasons[c->reason]);
	intake_note_stored(in, 0);
	intake_note(in, &row, in->rule);
	return true;
}

/* Whether what was enough for one rule is not for the other. */
static bool asks_more(const struct artifact_rule *later, const struct artifact_rule *first,
		      int64_t size)
{
	return (uint64_t)size > later->max_bytes ||
	       (later->type != ARTIFACT_ANY && later->type != first->type) ||
	       (later->schema && (!first->schema || strcmp(later->schema, first->schema) != 0));
}

static bool on_again(struct intake *in)
{
	const struct result *r = in->run->r;
	const struct artifact_rule *rules = in->run->spec->artifacts.rules;
	size_t i = 0;
	intake_note_stored(in, 0);
	while (i < r->artifacts_len && (r->artifacts[i].status == ARTIFACT_REJECTED ||
					strcmp(r->artifacts[i].path, in->path) != 0))
		i++;
	if (i == r->artifacts_len) { /* it was rejected, whether that has a row of its own or not */
		in->states[in->rule] |= RULE_BAD;
	} else if (asks_more(intake_rule(in), &rules[in->rules[i]], r->artifacts[i].size)) {
		struct artifact_row row = intake_row(in, (uint64_t)r->artifacts[i].size);
		text_fit(row.reason, sizeof(row.reason),
			 "it was kept by a rule before this one, which asks for less");
		intake_note(in, &row, in->rule);
	} else {
		in->states[in->rule] |= RULE_KEPT;
	}
	return true;
}

static bool on_file(struct intake *in, const struct collect_record *c)
{
	if (c->size > intake_rule(in)->max_bytes || c->size > COLLECT_BYTES_MAX - in->total ||
	    in->files++ == COLLECT_FILES_MAX)
		return false;
	in->total += c->size;
	in->at = 0;
	in->row = intake_row(in, c->size);
	in->failed = (struct err)ERR_INIT;
	store_name(in->row.file, in->path);
	if (intake_reserved(in, in->row.file))
		err_usage(&in->failed, "a document of this run has that name");
	else
		store_begin(&in->file, in->run->plan.artifacts.dir, in->files, &in->failed);
	intake_note_stored(in, HASHING_FILES - 1);
	hashing_begin(&in->hashing, c->size);
	return true;
}

static void store_bytes(struct intake *in, const void *bytes, size_t len, uint64_t at)
{
	if (in->in_tree)
		tree_store_data(&in->tree, bytes, len, at, &in->failed);
	else
		store_write(&in->file, bytes, len, at, &in->failed);
}

static bool on_data(struct intake *in, const struct collect_record *c)
{
	const uint64_t size = (uint64_t)in->row.size;
	uint64_t at = c->offset, left = c->size;
	if (at < in->at || at > size || left > size - at)
		return false;
	while (left > 0) {
		const size_t len = left < HASHING_BLOCK ? (size_t)left : HASHING_BLOCK;
		char *block = hashing_room(&in->hashing);
		if (!intake_take(in, block, len))
			return false;
		if (in->failed.kind == ERR_NONE) {
			hashing_add(&in->hashing, len, at);
			store_bytes(in, block, len, at);
		}
		at += len;
		left -= len;
	}
	in->at = at;
	return true;
}

/* The time of validators is what the program's files can stretch: it is one for all of them. */
static int validate(struct intake *in, const struct validation *v)
{
	const int64_t begun_ns = now_ns();
	const int rc = validate_file(in->run, v, &in->failed);
	in->validating_ns -= now_ns() - begun_ns;
	return rc;
}

void intake_judge(struct intake *in, bool stored)
{
	if (!stored) {
		text_fit(in->row.reason, sizeof(in->row.reason), in->failed.msg);
		in->row.file[0] = '\0';
		return;
	}
	const bool partial = in->run->r->status != RUN_EXITED;
	in->row.status = partial ? ARTIFACT_PARTIAL : ARTIFACT_KEPT;
	if (partial)
		text_fit(in->row.reason, sizeof(in->row.reason), "the program did not end by itself");
}

/* In the order that leaves nothing under a name that was not found good. */
static int keep(struct intake *in)
{
	const struct artifacts_plan *p = &in->run->plan.artifacts;
	const struct artifact_rule *rule = intake_rule(in);
	const struct tree *schema = p->schemas && rule->schema ? &p->schemas[in->rule] : NULL;
	const uint64_t size = (uint64_t)in->row.size;
	struct err *e = &in->failed;
	if (e->kind != ERR_NONE || (in->at < size && store_size(&in->file, size, e) < 0))
		return -1;
	if (rule->type != ARTIFACT_ANY) {
		hashing_idle(
			&in->hashing); /* a child of a process with threads at work may find locks held */
		if (validate(in, &(struct validation){rule, schema, in->file.fd, in->validating_ns}) <
		    0)
			return -1;
	}
	return store_publish(&in->file, p->dir, in->row.file, e);
}

static void on_end(struct intake *in)
{
	hashing_end(&in->hashing, in->failed.kind == ERR_NONE ? (uint64_t)in->row.size : 0);
	intake_judge(in, keep(in) == 0);
	store_drop(&in->file, in->run->plan.artifacts.dir);
	in->stored[(in->stored_first + in->stored_len++) % HASHING_FILES] =
		(struct stored){in->row, in->rule};
}

/* One record, within a file or between two. False: what it says makes no sense. */
static bool on_record(struct intake *in, const struct collect_record *c, bool *within)
{
	const bool in_file = *within;
	if (in_file != (c->type == COLLECT_DATA || c->type == COLLECT_END))
		return false;
	if (c->type == COLLECT_TREE || (in->in_tree && !in_file))
		return intake_tree_record(in, c, within);
	switch ((enum collect_type)c->type) {
	case COLLECT_FILE:
		*within = c->path_len > 0 && on_file(in, c);
		return *within;
	case COLLECT_DATA:
		return on_data(in, c);
	case COLLECT_END:
		*within = false;
		if (in->in_tree)
			intake_tree_file_end(in);
		else
			on_end(in);
		return true;
	case COLLECT_AGAIN:
		return c->path_len > 0 && on_again(in);
	case COLLECT_REJECT:
		return c->path_len > 0 && on_reject(in, c);
	case COLLECT_CUT:
		in->cut = true;
		in->states[in->rule] |= RULE_BAD; /* some of its files may not have been seen */
		return true;
	default:
		break;
	}
	return false;
}

static bool take_path(struct intake *in, const struct collect_record *c)
{
	if (c->path_len == 0 || in->in_tree)
		return true;
	if (c->path_len > COLLECT_PATH_MAX || !intake_take(in, in->path, c->path_len))
		return false;
	in->path[c->path_len] = '\0';
	return strlen(in->path) == c->path_len;
}

/* True: it said that that was all. */
static bool take_all(struct intake *in)
{
	struct collect_record c;
	bool within = false, good = true;
	while (good && intake_take(in, &c, sizeof(c))) {
		if (c.type == COLLECT_DONE && !within && !in->in_tree) {
			intake_note_stored(in, 0);
			return true;
		}
		const bool apart = !within && !in->in_tree;
		good = c.rule < in->run->spec->artifacts.len && (apart || c.rule == in->rule);
		in->rule = good ? c.rule : in->rule;
		good = good && take_path(in, &c) && on_record(in, &c, &within);
	}
	if (in->in_tree) {
		intake_tree_cut(in);
	} else if (within) {
		if (in->failed.kind == ERR_NONE)
			err_host(&in->failed, "it was not read to its end");
		on_end(in);
	}
	intake_note_stored(in, 0);
	return false;
}

/* ---- all of it ---- */

static void say_missing(struct result *r)
{
	r->artifact_missing = true;
	if (r->status == RUN_EXITED && !r->cause.message[0])
		text_fit(r->cause.message, sizeof(r->cause.message),
			 "a required artifact was not kept");
}

static void conclude(struct intake *in, bool complete)
{
	struct result *r = in->run->r;
	const struct artifact_list *list = &in->run->spec->artifacts;
	if (!complete)
		result_warn(r,
			    "not all artifacts were collected: the collector ended early, or its time was over");
	if (in->cut)
		result_warn(r, "not all artifacts were collected: more than %d names were looked at",
			    COLLECT_NAMES_MAX);
	for (size_t i = 0; i < list->len; i++)
		if (list->rules[i].required && (in->states[i] != RULE_KEPT || !complete))
			say_missing(r);
	if (fsync(in->run->plan.artifacts.dir) < 0)
		result_warn(r, "the artifacts folder could not be flushed: %s",
			    strerrordesc_np(errno));
}

static void intake_run(struct intake *in, int to)
{
	struct run *run = in->run;
	struct clone_args args = {.exit_signal = 0};
	const int64_t bytes = run->r->usage.scratch_bytes;
	int status = 0;
	const pid_t self = getpid(), pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0)
		be_collector(run, to, self);
	close(to);
	in->validating_ns = (PATIENCE_MS + (bytes > 0 ? bytes / BYTES_IN_MS : 0)) * MS_NS;
	in->until_ns = now_ns() + in->validating_ns;
	const bool complete = pid > 0 && take_all(in);
	if (pid > 0) {
		kill(pid, SIGKILL); /* not reaped: the number is its */
		while (waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
			;
	}
	conclude(in, complete);
}

/* Its execve was let go; whether pid 1's word of it came before the end does not matter. */
static bool ran(const struct run *run)
{
	const enum run_status s = run->r->status;
	return run->started_ns && s != RUN_EXEC_FAILED && s != RUN_SETUP_FAILED && s != RUN_REFUSED;
}

/* Nothing of it will be there: a required artifact is missing then, whatever it was. */
static void not_collected(struct run *run, const struct err *why)
{
	const struct artifact_list *list = &run->spec->artifacts;
	result_warn(run->r, "artifacts were not collected: %s", why->msg);
	for (size_t i = 0; i < list->len; i++)
		if (list->rules[i].required)
			say_missing(run->r);
}

static int intake_open(struct intake *in, int *to, struct err *e)
{
	struct result *r = in->run->r;
	int ends[2];
	if (!r->artifacts)
		r->artifacts = calloc(ARTIFACT_ROWS_MAX, sizeof(*r->artifacts));
	in->states = calloc(in->run->spec->artifacts.len, 1);
	if (!hashing_open(&in->hashing) || !r->artifacts || !in->states)
		return err_host(e, "out of memory");
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_sys(e, "pipe");
	in->from = ends[0];
	*to = ends[1];
	fcntl(in->from, F_SETPIPE_SZ, PIPE_BYTES);
	return fcntl(in->from, F_SETFL, O_NONBLOCK) < 0 ? err_sys(e, "fcntl") : 0;
}

static void intake_close(struct intake *in)
{
	fd_close(&in->from);
	hashing_close(&in->hashing);
	free(in->states);
	free(in);
}

void collect_artifacts(struct run *run)
{
	struct err e = ERR_INIT;
	if (run->spec->artifacts.len == 0 || !run->all_dead || !ran(run) || run->watch.scratch < 0)
		return;
	watcher_close(&run->watcher); /* a child of a process with threads may find locks held */
	run_event(run, EVENT_STAGE, "collect");
	struct intake *in = calloc(1, sizeof(*in));
	if (!in) {
		err_host(&e, "out of memory");
		not_collected(run, &e);
		return;
	}
	*in = (struct intake){.run = run, .from = -1, .file = STORE_FILE_INIT, .tree = TREE_STORE_INIT};
	autoclose int to = -1;
	if (intake_open(in, &to, &e) == 0)
		intake_run(in, fd_take(&to));
	else
		not_collected(run, &e);
	intake_close(in);
}
